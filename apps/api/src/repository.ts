import { join, resolve } from 'node:path';

/** Whether this program runs in the repository. In the published package, this file is JavaScript. */
export const isInRepository = import.meta.url.endsWith('.ts');

/** The root of the repository. The published package does not use this path. */
export const repositoryRoot = resolve(import.meta.dirname, '../../..');

/** The default directory of `.env` and of the embedded database. The command line has the same default. */
export const home = isInRepository ? repositoryRoot : process.cwd();

/** The paths of files that the server needs from other folders of the repository. */
export const outsideFiles = {
  console: 'apps/web/dist',
  'llms.txt': 'llms.txt',
  'plant.json': 'examples/plant.json',
};

/** The folder of the published package that contains copies of the outside files. */
const packedFiles = join(import.meta.dirname, 'files');

/** Returns the path of an outside file, in the repository or in the published package. */
export function outsideFile(name: keyof typeof outsideFiles): string {
  return isInRepository ? join(repositoryRoot, outsideFiles[name]) : join(packedFiles, name);
}

/** The path of the API reference's script in the published package. */
export const packedReferenceScript = join(packedFiles, 'scalar.js');
