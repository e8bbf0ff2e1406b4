import { writeFile } from 'node:fs/promises';
import { openApiDocument } from './openapi-document.ts';

/** Writes the document to `apps/api/openapi.json`, where it is committed: `pnpm openapi`. */
await writeFile(
  new URL('../openapi.json', import.meta.url),
  `${JSON.stringify(openApiDocument(), null, 2)}\n`,
);
