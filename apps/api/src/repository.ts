import { join, resolve } from 'node:path';

/** Whether this program runs in the repository. In the package, this file is JavaScript. */
export const isInRepository = import.meta.url.endsWith('.ts');

/** The root of the repository. In the package, this path means nothing. */
export const repositoryRoot = resolve(import.meta.dirname, '../../..');

/** The default directory of `.env` and of the embedded database. The command line has the same default. */
export const home = isInRepository ? repositoryRoot : process.cwd();

/** Files that the server sends or names, and their paths in the repository. */
export const outsideFiles = {
  console: 'apps/web/dist',
  'llms.txt': 'llms.txt',
  'plant.json': 'examples/plant.json',
};

/** The folder of the package into which the build copies the outside files. */
const packedFiles = join(import.meta.dirname, 'files');

/** Returns the path of an outside file. */
export function outsideFile(name: keyof typeof outsideFiles): string {
  return isInRepository ? join(repositoryRoot, outsideFiles[name]) : join(packedFiles, name);
}

/** The script of the API reference, in the package. In the repository, a plugin has this script. */
export const packedReferenceScript = join(packedFiles, 'scalar.js');
