import { expect } from 'vitest';
import type { Client } from './client.ts';

const [minimum, maximum] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Calls each operation with a client, and expects exact ids in all responses. */
export async function expectRoundTrip(client: Client, tag: string): Promise<void> {
  const { next: start } = await client.changes();
  expect(await client.create({ id: minimum, name: 'Hoya', tag })).toMatchObject({ name: 'Hoya' });
  const batch = [maximum, minimum, 7n].map((id) => ({ id, name: 'Ficus', tag }));
  const results = await client.createMany(batch);
  expect(results.map(({ id, result }) => [BigInt(id), result])).toEqual([
    [maximum, 'created'],
    [minimum, 'error'],
    [7n, 'created'],
  ]);
  expect(results[1]).toMatchObject({ error: 40900, message: expect.stringContaining('another') });

  for (const id of [minimum, maximum, 7n]) expect(BigInt((await client.get(id)).id)).toBe(id);
  const { plants, next = 0 } = await client.list({ tag, limit: 2 });
  expect(plants.map(({ id }) => BigInt(id))).toEqual([minimum, 7n]);
  const rest = await client.list({ tag, limit: 2, after: BigInt(next) });
  expect(rest.plants.map(({ id }) => BigInt(id))).toEqual([maximum]);
  expect(await client.count(tag)).toBe(3);

  for (const id of [maximum, minimum, 7n]) expect(await client.remove(id)).toBe(204);
  const { changes } = await client.changes(start);
  expect(new Set(changes.map(({ type, plant }) => `${type} ${BigInt(plant.id)}`))).toEqual(
    new Set([minimum, maximum, 7n].map((id) => `deleted ${id}`)),
  );
  await expect(client.get(maximum)).rejects.toMatchObject({ error: 40401 });
}
