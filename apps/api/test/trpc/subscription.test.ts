import { createPlantStoreClient } from '@plant-store/client';
import type { PlantChanges } from '@plant-store/schemas';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ownPostgres } from '../fixtures/own-postgres.ts';
import { shareServer } from '../fixtures/running-server.ts';

const own = ownPostgres();
const server = shareServer(() => ({ postgresUrl: own.postgresUrl }));

it('sends a subscriber the cursor of the end of the feed, and then each change', async () => {
  const pages: PlantChanges[] = [];
  const { plantChanges } = createPlantStoreClient(server);
  const onData = ({ data }: { data: PlantChanges }) => pages.push(data);
  const { unsubscribe } = plantChanges.subscribe(undefined, { onData });
  onTestFinished(unsubscribe);
  const changes = () =>
    pages.flatMap(({ changes }) => changes.map(({ type, plant }) => [type, plant.id]));

  await vi.waitFor(() => expect(pages).toEqual([{ changes: [], next: expect.any(String) }]));
  await server.store.create({ id: 1n, name: 'Monstera', tag: 'Araceae' });
  await vi.waitFor(() => expect(changes()).toEqual([['created', 1n]]));
  await server.store.delete(1n);
  const all = [
    ['created', 1n],
    ['deleted', 1n],
  ];
  await vi.waitFor(() => expect(changes()).toEqual(all));
  const plant = { id: 1n, name: 'Monstera', tag: 'Araceae', createdAt: expect.any(Date) };
  expect(pages[1]?.changes[0]).toEqual({ type: 'created', plant });
});

it('responds to an invalid subscription with an error, as to an invalid call', async () => {
  const send = (path: string, init: { method?: string; body?: string } = {}, headers = {}) =>
    fetch(`${server.url}/trpc/${path}`, {
      headers: { authorization: `Bearer ${server.token}`, ...headers },
      ...init,
    });
  const errorOf = async (response: Response) =>
    ((await response.json()) as ErrorEnvelope).error.json.data;
  for (const [code, query] of [
    [40001, '?input={"json":{"more":1}}'],
    [40001, '?input={"json":5}&lastEventId=x'],
    [40002, '?batch=1&input={}'],
  ] as const) {
    const data = { error: code, httpStatus: 400, path: 'plantChanges' };
    expect(await errorOf(await send(`plantChanges${query}`))).toMatchObject(data);
  }
  const json = { 'content-type': 'application/json' };
  const mutation = await send('plantChanges', { method: 'POST', body: '{}' }, json);
  expect([mutation.status, await errorOf(mutation)]).toMatchObject([405, { error: 40500 }]);

  const batch = await send('whoAmI,plantChanges?batch=1&input={}');
  expect(batch.status).toBe(207);
  expect(await batch.json()).toMatchObject([
    { result: {} },
    { error: { json: { data: { error: 40002 } } } },
  ]);
  const accept = { 'trpc-accept': 'application/jsonl' };
  const stream = await send('whoAmI,plantChanges?batch=1&input={}', {}, accept);
  expect([stream.status, stream.headers.get('content-type')]).toEqual([400, 'application/json']);
  expect(await errorOf(stream)).toMatchObject({ error: 40002 });
});

interface ErrorEnvelope {
  error: { json: { data: object } };
}
