import { join, resolve } from 'node:path';

/** Whether this program runs in the repository. In the published package, this file is JavaScript. */
export const isInRepository = import.meta.url.endsWith('.ts');

/** The published package does not use this path. */
export const repositoryRoot = resolve(import.meta.dirname, '../../..');

/** The default directory of `.env` and of the embedded database. The command line has the same default. */
export const home = isInRepository ? repositoryRoot : process.cwd();

/** The paths of files that the server needs from other folders of the repository. */
export const outsideFiles = {
  console: 'apps/web/dist',
  'llms.txt': 'llms.txt',
  'plant.json': 'examples/plant.json',
};

/** The folder in which the published package has copies of `outsideFiles`. */
const packedFiles = join(import.meta.dirname, 'files');

/** Returns the path of one of `outsideFiles`, in the repository or in the published package. */
export function outsideFile(name: keyof typeof outsideFiles): string {
  return isInRepository ? join(repositoryRoot, outsideFiles[name]) : join(packedFiles, name);
}

export const packedReferenceScript = join(packedFiles, 'scalar.js');
