import { exactFetch } from '@plant-store/schemas';
import type { Client } from './client.ts';
import * as store from './generated/hey-api';
import { createClient } from './generated/hey-api/client';
import { zCreateResults } from './generated/hey-api/zod.gen';

/** Connects the client of Hey API. The plugin `@hey-api/transformers` turns each id into a `bigint`. */
export function connect(baseUrl: string, token: string): Client {
  const client = createClient({ baseUrl, auth: token, fetch: exactFetch(fetch) });
  const options = { client, throwOnError: true } as const;
  return {
    create: async (body) => (await store.createPlant({ ...options, body })).data,
    // `@hey-api/transformers` does not transform unions, so the zod schema transforms the ids of the results.
    createMany: async (plants) => {
      const { data } = await store.createPlants({ ...options, body: { plants } });
      return zCreateResults.parse(data).results;
    },
    get: async (id) => (await store.getPlant({ ...options, path: { id } })).data,
    list: async (query) => (await store.listPlants({ ...options, query })).data,
    remove: async (id) => (await store.deletePlant({ ...options, path: { id } })).response.status,
    count: async (tag) => (await store.countPlants({ ...options, query: { tag } })).data.count,
    changes: async (after) =>
      (await store.listPlantChanges({ ...options, query: after ? { after } : {} })).data,
  };
}
