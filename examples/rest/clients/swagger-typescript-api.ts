import { exactFetch } from '@plant-store/schemas';
import type { Client } from './client.ts';
import { Api, type HttpResponse } from './generated/swagger-typescript-api/store';

/** Connects the client that swagger-typescript-api generated. */
export function connect(baseUrl: string, token: string): Client {
  const { plants } = new Api({
    baseUrl,
    customFetch: exactFetch(fetch),
    baseApiParams: { headers: { authorization: `Bearer ${token}` } },
  });
  return {
    create: (plant) => dataOf(plants.createPlant(plant)),
    createMany: async (list) => (await dataOf(plants.createPlants({ plants: list }))).results,
    get: (id) => dataOf(plants.getPlant(id)),
    list: (query) => dataOf(plants.listPlants(query)),
    remove: async (id) => (await plants.deletePlant(id)).status,
    count: async (tag) => (await dataOf(plants.countPlants({ tag }))).count,
    changes: (after) => dataOf(plants.listPlantChanges(after ? { after } : {})),
  };
}

async function dataOf<Data, Fault>(response: Promise<HttpResponse<Data, Fault>>): Promise<Data> {
  try {
    return (await response).data;
  } catch (thrown) {
    throw Object(thrown).error;
  }
}
