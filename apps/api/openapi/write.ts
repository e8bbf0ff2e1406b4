import { readFile, writeFile } from 'node:fs/promises';
import { openApiDocument } from './document.ts';

// `pnpm openapi` writes the document, which the server sends unchanged. The document is in the repository.
// With `--check`, this program writes nothing, and exits with an error when the document is out of date.
const path = new URL('../openapi.json', import.meta.url);
const content = `${JSON.stringify(openApiDocument(), null, 1)}\n`;
if (!process.argv.includes('--check')) {
  await writeFile(path, content);
} else if ((await readFile(path, 'utf8')) !== content) {
  console.error('apps/api/openapi.json is out of date: run `npx -y pnpm openapi` and commit it');
  process.exitCode = 1;
}
