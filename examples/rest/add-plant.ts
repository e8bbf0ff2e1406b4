/**
 * Creates a plant over REST, with a client that is generated from the OpenAPI document
 * (`npx openapi-typescript http://127.0.0.1:3000/openapi.json`).
 *
 *   PLANT_STORE_TOKEN=plant_… npx pnpm exec node examples/rest/add-plant.ts 1 "Monstera deliciosa" Araceae
 */
import createClient from 'openapi-fetch';
import type { paths } from './plant-store.d.ts';

const [id = '', name = '', tag] = process.argv.slice(2);

const store = createClient<paths>({
  baseUrl: process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000',
  headers: { authorization: `Bearer ${process.env['PLANT_STORE_TOKEN']}` },
});

// Writes a number into JSON as it is spelled: an id beyond 2^53 would be rounded by `Number`.
const { rawJSON } = JSON as JSON & { rawJSON(text: string): number }; // TypeScript lacks it yet.

const { data, error } = await store.POST('/plants', {
  body: { id: rawJSON(id), name, ...(tag !== undefined && { tag }) },
});

if (data) console.log(JSON.stringify(data));
if (error) {
  console.error(JSON.stringify(error));
  process.exitCode = 1;
}
