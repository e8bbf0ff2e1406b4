/**
 * Creates a plant over REST and reads it back, with a typed client. Its types are generated from the OpenAPI document
 * (`npx openapi-typescript http://127.0.0.1:3000/openapi.json`).
 *
 *   PLANT_STORE_TOKEN=plant_… npx -y pnpm exec node examples/rest/add-plant.ts 1 "Monstera deliciosa" Araceae
 */
import createClient from 'openapi-fetch';
import type { paths } from './plant-store.d.ts';

const [id = '', name = '', tag] = process.argv.slice(2);

const store = createClient<paths>({
  baseUrl: process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000',
  headers: { authorization: `Bearer ${process.env['PLANT_STORE_TOKEN']}` },
});

// Writes the digits of the id into JSON unchanged. `Number` would round an id beyond 2^53.
const { rawJSON } = JSON as JSON & { rawJSON(text: string): number }; // TypeScript 5 has no type for it.

const created = await store.POST('/plants', {
  body: { id: rawJSON(id), name, ...(tag !== undefined && { tag }) },
});
show(created);

if (created.data) {
  const path = { id: id as unknown as number }; // The digits as text, because a number may be rounded.
  // `parseAs: 'text'` keeps the digits of the id in the reply.
  show(await store.GET('/plants/{id}', { params: { path }, parseAs: 'text' }));
}

function show({ data, error }: { data?: unknown; error?: unknown }) {
  if (error) {
    console.error(JSON.stringify(error));
    process.exitCode = 1;
  } else console.log(typeof data === 'string' ? data : JSON.stringify(data));
}
