import { readFile, writeFile } from 'node:fs/promises';
import { formatJson } from '@plant-store/schemas';
import { openApiDocument } from './openapi-document.ts';

// Writes the document to `apps/api/openapi.json`, which is committed (`pnpm openapi`). With `--check`
// it writes nothing, and fails when the committed document is out of date.
const path = new URL('../../openapi.json', import.meta.url);
const document = `${formatJson(openApiDocument(), 2)}\n`;

if (!process.argv.includes('--check')) {
  await writeFile(path, document);
} else if ((await readFile(path, 'utf8')) !== document) {
  console.error('apps/api/openapi.json is out of date: run `npx -y pnpm openapi` and commit it');
  process.exitCode = 1;
}
