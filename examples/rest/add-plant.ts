/**
 * Creates a plant over REST and reads it back, with a typed client. The client's types are generated from the
 * OpenAPI document (`npx openapi-typescript http://127.0.0.1:3000/openapi.json`).
 *
 *   PLANT_STORE_TOKEN=plant_… npx -y pnpm exec node examples/rest/add-plant.ts 9007199254740993
 * "Monstera deliciosa" Araceae
 */
import createClient from 'openapi-fetch';
import { type ExactIds, exactIds, formatExactly } from './exact-ids.ts';
import type { components, paths } from './plant-store.d.ts';

type StoredPlant = ExactIds<components['schemas']['StoredPlant']>;

const [id = '', name = '', tag] = process.argv.slice(2);

const store = createClient<ExactIds<paths>, 'application/json'>({
  baseUrl: process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000',
  headers: { authorization: `Bearer ${process.env['PLANT_STORE_TOKEN']}` },
  bodySerializer: formatExactly,
});

const plant = { id: BigInt(id), name, ...(tag !== undefined && { tag }) };
const created = await store.POST('/plants', { body: plant });
if (created.error) fail(created.error);
console.log(JSON.stringify(created.data));

// openapi-fetch would parse the response with `JSON.parse`, which rounds the id.
const path = { id: plant.id };
const read = await store.GET('/plants/{id}', { params: { path }, parseAs: 'text' });
if (read.error) fail(read.error);
const stored: StoredPlant = JSON.parse(read.data, exactIds);
console.log(formatExactly(stored));

function fail(error: { error: number; message: string }): never {
  console.error(JSON.stringify(error));
  process.exit(1);
}
