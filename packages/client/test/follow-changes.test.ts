import { expect, it } from 'vitest';
import {
  createPlantStoreClient,
  followChanges,
  type PlantChanges,
  plantStoreError,
} from '../src/index.ts';
import { client, startProxyTo, thrownBy, token, url, useServer } from './fixtures/server.ts';

useServer();

let lastId = 0n;
const create = () => client.createPlant.mutate({ id: ++lastId, name: `Plant ${lastId}` });

const idsOf = ({ changes }: PlantChanges) => changes.map(({ plant }) => plant.id);

it('returns a cursor, and then each change once, even when a second loop starts at the cursor of the first loop', async () => {
  const loop = followChanges(client);
  const start = (await loop.next()).value ?? expect.unreachable();
  expect(start.changes).toEqual([]);
  const next = loop.next();
  await create();
  const page = (await next).value ?? expect.unreachable();
  expect(idsOf(page)).toEqual([lastId]);
  await loop.return();
  await create();
  for await (const later of followChanges(client, { after: page.next })) {
    expect(idsOf(later)).toEqual([lastId]);
    break;
  }
});

it('throws the error cursorExpired for an expired cursor', async () => {
  const after = btoa('0123456789abcdef 813').replaceAll('=', '');
  const thrown = await thrownBy(followChanges(client, { after }).next());
  expect(plantStoreError(thrown)).toMatchObject({ kind: 'cursorExpired' });
});

it('ends the loop and its request when the signal aborts', async () => {
  const proxy = await startProxyTo(url);
  const controller = new AbortController();
  const { signal } = controller;
  const distant = createPlantStoreClient({ url: proxy.url, token });
  const loop = followChanges(distant, { signal });
  await loop.next();
  const end = loop.next();
  controller.abort();
  expect(await end).toEqual({ done: true, value: undefined });
});
