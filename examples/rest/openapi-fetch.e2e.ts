import { type ExactIds, exactFetch } from '@plant-store/schemas';
import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import createClient from 'openapi-fetch';
import { expect, inject, it, onTestFinished } from 'vitest';
import type { paths } from './plant-store.d.ts'; // openapi-typescript generated this file.

const [minimum, maximum] = [-(2n ** 63n), 2n ** 63n - 1n];
const tag = 'long';

it('a generated client creates, reads, lists and deletes plants with exact ids', async () => {
  const { env, stop } = await startOnPostgres(await createDatabase(inject('postgresUrl')));
  onTestFinished(stop);
  const store = createClient<ExactIds<paths>, 'application/json'>({
    baseUrl: env.PLANT_STORE_URL,
    headers: { authorization: `Bearer ${env.PLANT_STORE_TOKEN}` },
    fetch: exactFetch(fetch),
  });
  const start = await store.GET('/plants/changes', { params: { query: {} } });
  await store.POST('/plants', { body: { id: minimum, name: 'Hoya', tag } });
  const plants = [maximum, minimum, 7n].map((id) => ({ id, name: 'Ficus', tag }));
  const batch = await store.POST('/plants/batch', { body: { plants } });
  expect(batch.data?.results.map(({ id, result }) => [BigInt(id), result])).toEqual([
    [maximum, 'created'],
    [minimum, 'error'],
    [7n, 'created'],
  ]);
  for (const id of [minimum, maximum, 7n]) {
    const { data } = await store.GET('/plants/{id}', { params: { path: { id } } });
    expect(BigInt(data?.id ?? 0)).toBe(id);
  }
  const page = await store.GET('/plants', { params: { query: { tag, limit: 2 } } });
  expect(page.data?.plants.map(({ id }) => BigInt(id))).toEqual([minimum, 7n]);
  const query = { tag, after: page.data?.next ?? '0' };
  const rest = await store.GET('/plants', { params: { query } });
  expect(rest.data?.plants.map(({ id }) => BigInt(id))).toEqual([maximum]);

  for (const id of [minimum, maximum]) {
    const { response } = await store.DELETE('/plants/{id}', { params: { path: { id } } });
    expect(response.status).toBe(204);
  }
  const after = start.data?.next;
  const changes = await store.GET('/plants/changes', { params: { query: after ? { after } : {} } });
  expect(
    new Set(changes.data?.changes.map(({ type, plant }) => `${type} ${BigInt(plant.id)}`)),
  ).toEqual(new Set([`created 7`, `deleted ${minimum}`, `deleted ${maximum}`]));
});
