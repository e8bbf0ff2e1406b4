import { readFile, writeFile } from 'node:fs/promises';
import { errorPage } from './error-page.ts';
import { openApiDocument } from './openapi-document.ts';

// `pnpm openapi` writes two files, which the server sends unchanged. Both files are in the repository. With
// `--check`, this program writes nothing, and exits with an error when one of the files is out of date.
const files = {
  'openapi.json': `${JSON.stringify(openApiDocument(), null, 1)}\n`,
  'errors.html': errorPage(),
};

for (const [name, content] of Object.entries(files)) {
  const path = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    await writeFile(path, content);
  } else if ((await readFile(path, 'utf8')) !== content) {
    console.error(`apps/api/${name} is out of date: run \`npx -y pnpm openapi\` and commit it`);
    process.exitCode = 1;
  }
}
