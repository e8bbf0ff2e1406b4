import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { referenceScript } from '../src/pages/docs.ts';
import { outsideFiles, repositoryRoot } from '../src/repository.ts';

// At the end of the build, this program copies files from other folders of the repository into the package.
const target = join(import.meta.dirname, '../dist/files');
await mkdir(target, { recursive: true });
for (const [name, path] of Object.entries(outsideFiles)) {
  await cp(join(repositoryRoot, path), join(target, name), { recursive: true });
}
await writeFile(join(target, 'scalar.js'), await referenceScript());
