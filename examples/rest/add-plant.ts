/**
 * Creates a plant over REST, and reads the plant, with a typed client. The types of the client come from the
 * OpenAPI document (`npx openapi-typescript http://127.0.0.1:3000/openapi.json`).
 *
 *   PLANT_STORE_TOKEN=plant_… npx -y pnpm exec node examples/rest/add-plant.ts 9007199254740993
 * "Monstera deliciosa" Araceae
 */
import { type ExactIds, exactFetch, formatJson } from '@plant-store/schemas';
import createClient from 'openapi-fetch';
import type { paths } from './plant-store.d.ts';

const [id = '', name = '', tag] = process.argv.slice(2);

const store = createClient<ExactIds<paths>, 'application/json'>({
  baseUrl: process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000',
  headers: { authorization: `Bearer ${process.env['PLANT_STORE_TOKEN']}` },
  fetch: exactFetch(fetch),
});

const plant = { id: BigInt(id), name, ...(tag !== undefined && { tag }) };
const created = await store.POST('/plants', { body: plant });
if (created.error) fail(created.error);
console.log(JSON.stringify(created.data));

const path = { id: plant.id };
const read = await store.GET('/plants/{id}', { params: { path } });
if (read.error) fail(read.error);
console.log(formatJson(read.data));

function fail(error: { error: number; message: string }): never {
  console.error(JSON.stringify(error));
  process.exit(1);
}
