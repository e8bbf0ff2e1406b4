import { beforeAll, describe, expect, it, vi } from 'vitest';
import { allPlants, type StoredPlant } from '../src/index.ts';
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

  it('requests only the pages that the loop needs', async () => {
    const query = vi.fn(client.listPlants.query);
    for await (const { id } of allPlants({ listPlants: { query } }, { limit: 2 })) {
      if (id === 0n) break;
    }
    expect(query).toHaveBeenCalledTimes(2);
  });
});
