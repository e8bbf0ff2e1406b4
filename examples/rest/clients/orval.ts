import type { Client } from './client.ts';
import * as store from './generated/orval/store';
import { connection } from './orval-fetch.ts';

/** Connects the client that orval generated. The calls of this client return error responses. */
export function connect(url: string, token: string): Client {
  Object.assign(connection, { url, token });
  return {
    async create(plant) {
      const { status, data } = await store.createPlant(plant);
      if (status === 200) return data;
      throw data;
    },
    async createMany(plants) {
      const { status, data } = await store.createPlants({ plants });
      if (status === 200) return data.results;
      throw data;
    },
    async get(id) {
      const { status, data } = await store.getPlant(id);
      if (status === 200) return data;
      throw data;
    },
    async list(query) {
      const { status, data } = await store.listPlants(query);
      if (status === 200) return data;
      throw data;
    },
    remove: async (id) => (await store.deletePlant(id)).status,
    async count(tag) {
      const { status, data } = await store.countPlants({ tag });
      if (status === 200) return data.count;
      throw data;
    },
    async changes(after) {
      const { status, data } = await store.listPlantChanges(after ? { after } : {});
      // A response with status 200 is text only if the request asks for events.
      if (status === 200 && typeof data !== 'string') return data;
      throw data;
    },
  };
}
