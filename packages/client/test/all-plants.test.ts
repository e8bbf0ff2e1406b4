import { beforeAll, describe, expect, expectTypeOf, it, vi } from 'vitest';
import {
  allPlants,
  type PlantStoreClient,
  plantStoreError,
  type StoredPlant,
} from '../src/index.ts';
import { client, useServer } from './fixtures/server.ts';

useServer();

const ids = [-(2n ** 63n), -1n, 0n, 1n, 2n, 9007199254740993n, 2n ** 63n - 1n];

beforeAll(async () => {
  await Promise.all(
    ids.map((id) => {
      const tag = id < 0n ? 'negative' : undefined;
      return client.createPlant.mutate({ id, name: `Plant ${id}`, ...(tag && { tag }) });
    }),
  );
});

const idsOf = async (plants: AsyncIterable<StoredPlant>) =>
  (await Array.fromAsync(plants)).map(({ id }) => id);

it('lists the first plants when the call has no argument', async () => {
  const { plants } = await client.listPlants.query();
  expect(plants.map(({ id }) => id)).toEqual(ids);
});

describe('allPlants', () => {
  it('returns every plant once, ascending by id, for every page size', async () => {
    for (const limit of [1, 2, 3, 1000]) {
      expect(await idsOf(allPlants(client, { limit })), `limit ${limit}`).toEqual(ids);
    }
    expect(await idsOf(allPlants(client))).toEqual(ids);
  });

  it('returns only plants with the given tag, and only plants after the given id', async () => {
    expect(await idsOf(allPlants(client, { tag: 'negative', limit: 1 }))).toEqual(ids.slice(0, 2));
    expect(await idsOf(allPlants(client, { after: 1n, limit: 2 }))).toEqual(ids.slice(4));
    expect(await idsOf(allPlants(client, { tag: 'of no plant' }))).toEqual([]);
  });

  it('continues with the next page after a page without plants', async () => {
    const plant = { id: 7n, name: 'Hoya', createdAt: new Date() };
    const pages = [{ plants: [], next: 5n }, { plants: [], next: 6n }, { plants: [plant] }];
    const query = vi.fn(async () => pages.shift() ?? expect.fail());
    // tRPC has its own type of promise, so the mock needs a cast.
    const listPlants = { query } as unknown as PlantStoreClient['listPlants'];
    expect(await idsOf(allPlants({ listPlants }, { search: 'hoya' }))).toEqual([7n]);
    const inputs = [undefined, 5n, 6n].map((after) => [{ search: 'hoya', after }]);
    expect(query.mock.calls).toEqual(inputs);
  });

  it('returns the plants whose name contains a text', async () => {
    const found = await idsOf(allPlants(client, { search: 'pLANT -', limit: 1 }));
    expect(found).toEqual(ids.slice(0, 2));
  });

  it('returns all fields of each plant', async () => {
    for await (const plant of allPlants(client)) {
      expectTypeOf(plant).toEqualTypeOf<StoredPlant>();
      expect(plant).toEqual({
        id: ids[0],
        name: `Plant ${ids[0]}`,
        tag: 'negative',
        createdAt: expect.any(Date),
      });
      break;
    }
  });

  it('requests only the pages that the loop needs', async () => {
    const query = vi.fn(client.listPlants.query);
    for await (const { id } of allPlants({ listPlants: { query } }, { limit: 2 })) {
      if (id === 0n) break;
    }
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('throws the error of a call', async () => {
    const thrown = await idsOf(allPlants(client, { limit: 1001 })).catch((error) => error);
    expect(plantStoreError(thrown)).toMatchObject({ kind: 'invalidInput' });
  });
});
