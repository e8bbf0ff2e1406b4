/**
 * What a third party does: it creates a plant with a client that is generated from the OpenAPI
 * document (`npx openapi-typescript http://127.0.0.1:3000/openapi.json`).
 *
 *   PLANT_STORE_TOKEN=plant_… npx pnpm exec node examples/rest/add-plant.ts 1 "Monstera deliciosa" Araceae
 */
import createClient from 'openapi-fetch';
import type { paths } from './plant-store.d.ts';

const [id, name = '', tag] = process.argv.slice(2);

const store = createClient<paths>({
  baseUrl: process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000',
  headers: { authorization: `Bearer ${process.env['PLANT_STORE_TOKEN']}` },
});

const { data, error } = await store.POST('/plants', {
  body: { id: Number(id), name, ...(tag !== undefined && { tag }) },
});

if (data) console.log(`created ${data.name}${data.tag ? `, tagged ${data.tag}` : ''}`);
if (error) {
  console.error(`error ${error.error}: ${error.message}`);
  process.exitCode = 1;
}
