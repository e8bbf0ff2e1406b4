import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/open-database.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { createWebhookTable, now } from '../../src/webhooks/webhook-table.ts';
import { closeAtEnd, connectToNew } from '../fixtures/databases.ts';
import { startReceiver } from '../fixtures/receiver.ts';

async function openInstances(databaseUrl: string, count: number) {
  const webhooks = { allow: ['127.0.0.1'], retryDelays: [0, 0, 0] };
  const open = () => openPlantStore({ databaseUrl }, { webhooks });
  const stores = await Promise.all(Array.from({ length: count }, open));
  for (const store of stores) onTestFinished(() => store.close());
  return stores;
}

it('gives an endpoint to another instance only after the lease has expired in the database', async () => {
  const { databaseUrl, sql } = await connectToNew();
  const database = closeAtEnd(await openDatabase({ databaseUrl }));
  const table = createWebhookTable(database);
  const [frozen, other] = [randomUUID(), randomUUID()];
  await table.insert({ name: 'partner', url: 'https://partner.example', secret: '', cursor: 'a' });
  const [held] = await table.claim(frozen);
  if (!held) throw new Error('the endpoint was not free');
  expect(await table.claim(other)).toEqual([]);
  await sql`update webhooks set held_until = now() - interval '1 second'`;
  expect(await table.claim(other)).toMatchObject([{ name: 'partner' }]);
  // When its lease has expired, a frozen instance that continues can change nothing.
  expect(await table.advance(held, frozen, { cursor: 'b' })).toBeUndefined();
  expect(await table.advance(held, other, { cursor: 'c' })).toMatchObject({ cursor: 'c' });
  expect(await table.claim(frozen)).toEqual([]);
  // After a command of the operator, the holder can no longer change the row.
  await table.change('partner', { cursor: 'd' });
  expect(await table.advance(held, other, { cursor: 'e' })).toBeUndefined();
  await table.change('partner', { pausedAt: now });
  expect(await table.claim(other)).toEqual([]);
});

it('lets another instance repeat the message of a stopped instance with the same id', async () => {
  const { databaseUrl } = await connectToNew();
  const [first, second] = await openInstances(databaseUrl, 2);
  if (!first || !second) throw new Error('there are no instances');
  const receiver = await startReceiver(() => {}); // Never responds.
  receiver.secret = (await first.webhooks.create(receiver.url)).secret;
  first.webhooks.send();
  await vi.waitFor(() => expect(first.feed().waiting).toBe(1));
  await first.create({ id: 1n, name: 'Hoya' });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
  await first.close();
  receiver.respond = (response) => response.end();
  second.webhooks.send();
  await second.create({ id: 2n, name: 'Hoya' });
  await vi.waitFor(() => expect(receiver.changes()).toEqual(['created 1', 'created 2']));
  const [one, other] = receiver.received;
  expect(other).toMatchObject({ id: one?.id, changes: ['created 1'] });
});

it('sends each change from only one of several instances', async () => {
  const { databaseUrl } = await connectToNew();
  const stores = await openInstances(databaseUrl, 3);
  const [store] = stores;
  if (!store) throw new Error('there is no instance');
  const receiver = await startReceiver();
  receiver.secret = (await store.webhooks.create(receiver.url)).secret;
  for (const { webhooks } of stores) webhooks.send();
  const plants = Array.from({ length: 300 }, (_, i) => ({ id: BigInt(i), name: 'x' }));
  await store.createMany(plants);
  await vi.waitFor(() => expect(receiver.changes()).toHaveLength(300));
  expect(receiver.received.flatMap(({ changes }) => changes)).toHaveLength(300);
});

it('does not create an endpoint while the feed is off', async () => {
  const { databaseUrl, sql } = await connectToNew();
  const [store] = await openInstances(databaseUrl, 1);
  await sql`delete from plant_feed`;
  const created = store?.webhooks.create('http://127.0.0.1/');
  await expect(created).rejects.toMatchObject({
    kind: 'notImplemented',
    message: expect.stringContaining('the feed of changes is switched off'),
  });
});
