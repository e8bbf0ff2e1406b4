import { type ExactIds, exactFetch } from '@plant-store/schemas';
import createClient from 'openapi-fetch';
import type { paths } from '../plant-store.d.ts';
import type { Client } from './client.ts';

/** Connects a client of openapi-fetch. openapi-typescript generated the types of the client. */
export function connect(baseUrl: string, token: string): Client {
  const store = createClient<ExactIds<paths>, 'application/json'>({
    baseUrl,
    headers: { authorization: `Bearer ${token}` },
    fetch: exactFetch(fetch),
  });
  return {
    create: async (body) => dataOf(await store.POST('/plants', { body })),
    createMany: async (plants) =>
      dataOf(await store.POST('/plants/batch', { body: { plants } })).results,
    get: async (id) => dataOf(await store.GET('/plants/{id}', { params: { path: { id } } })),
    list: async (query) => dataOf(await store.GET('/plants', { params: { query } })),
    async remove(id) {
      const { response } = await store.DELETE('/plants/{id}', { params: { path: { id } } });
      return response.status;
    },
    count: async (tag) =>
      dataOf(await store.GET('/plants/count', { params: { query: { tag } } })).count,
    changes: async (after) =>
      dataOf(await store.GET('/plants/changes', { params: { query: after ? { after } : {} } })),
  };
}

function dataOf<Data>({ data, error }: { data?: Data; error?: unknown }): Data {
  if (data === undefined) throw error;
  return data;
}
