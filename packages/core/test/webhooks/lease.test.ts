import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { formatCursor } from '../../src/changes/cursor.ts';
import { createPlantFeed } from '../../src/changes/plant-feed.ts';
import { openDatabase } from '../../src/open-database.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { parseAllowed } from '../../src/webhooks/addresses.ts';
import { createSecretBox } from '../../src/webhooks/secrets.ts';
import { createWebhookSender } from '../../src/webhooks/webhook-sender.ts';
import { createWebhookTable, now } from '../../src/webhooks/webhook-table.ts';
import { closeAtEnd, connectToNew, createStore } from '../fixtures/databases.ts';
import { startReceiver } from '../fixtures/receiver.ts';

const webhooks = { allow: ['127.0.0.1'], retryDelays: [0, 0, 0] };
const openAnother = async (databaseUrl: string) =>
  closeAtEnd(await openPlantStore({ databaseUrl }, { webhooks }));

it('lets another instance send to an endpoint only after the lease has expired in the database', async () => {
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
  // The lease of the frozen instance has expired, so the instance can change nothing.
  expect(await table.advance(held, frozen, { cursor: 'b' })).toBeUndefined();
  expect(await table.advance(held, other, { cursor: 'c' })).toMatchObject({ cursor: 'c' });
  expect(await table.claim(frozen)).toEqual([]);
  // When somebody sets the clock of the database back by a day, the lease seems to end only in a day.
  await sql`update webhooks set held_until = now() + interval '1 day'`;
  expect(await table.claim(frozen)).toMatchObject([{ name: 'partner' }]);
  await sql`update webhooks set held_until = now()`;
  expect(await table.claim(other)).toMatchObject([{ name: 'partner' }]);
  // The operator changes the endpoint. The instance that has the lease can then no longer change the row.
  await table.change('partner', { cursor: 'd' });
  expect(await table.advance(held, other, { cursor: 'e' })).toBeUndefined();
  await table.change('partner', { pausedAt: now });
  expect(await table.claim(other)).toEqual([]);
});

it('lets another instance repeat a message with the same id when the first instance has stopped', async () => {
  const { databaseUrl, store: first } = await createStore({ webhooks });
  const second = await openAnother(databaseUrl);
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

it('does not send a message after a freeze that is longer than the lease', async () => {
  const { databaseUrl, sql, store } = await createStore({ webhooks });
  const receiver = await startReceiver();
  receiver.secret = (await store.webhooks.create(receiver.url)).secret;
  const cursor = formatCursor({ epoch: '0'.repeat(16), transaction: 1n, id: 0n });
  await sql`update webhooks set cursor = ${cursor}`;
  const database = closeAtEnd(await openDatabase({ databaseUrl }));
  const table = createWebhookTable(database);
  const [stored, thawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isFrozen = false;
  const frozenTable: typeof table = {
    ...table,
    claim: (async (instance) => {
      if (isFrozen) await thawed.promise;
      return table.claim(instance);
    }) as typeof table.claim, // The cast is safe, because the sender only needs a promise.
    async advance(...change) {
      const row = await table.advance(...change);
      isFrozen = true;
      stored.resolve();
      await thawed.promise;
      return row;
    },
  };
  const frozen = createWebhookSender(frozenTable, {
    feed: createPlantFeed(database),
    secrets: createSecretBox(undefined),
    allowed: parseAllowed(['127.0.0.1']),
    delays: [],
    warn: () => {},
  });
  frozen.start();
  await stored.promise;
  await sql`update webhooks set held_until = now() - interval '1 second'`;
  store.webhooks.send();
  await vi.waitFor(() => expect(receiver.received).toMatchObject([{ type: 'plants.reset' }]));
  await store.create({ id: 1n, name: 'Hoya' });
  await vi.waitFor(() => expect(receiver.changes()).toEqual(['created 1']));
  const clock = performance.now.bind(performance);
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock() + 20_000);
  onTestFinished(() => spy.mockRestore());
  thawed.resolve();
  await store.create({ id: 2n, name: 'Hoya' });
  await vi.waitFor(() => expect(receiver.changes()).toEqual(['created 1', 'created 2']));
  await frozen.stop();
  expect(receiver.received.filter(({ type }) => type === 'plants.reset')).toHaveLength(1);
});

it('does not move the cursor of a new endpoint when a deleted endpoint with the same name accepts a message', async () => {
  const { databaseUrl, sql, store } = await createStore({ webhooks });
  const operator = await openAnother(databaseUrl);
  const { next: from } = await store.changes({});
  const [first, second] = [await startReceiver(() => {}), await startReceiver()];
  first.secret = (await operator.webhooks.create(first.url, { name: 'partner' })).secret;
  const responded = Promise.withResolvers<void>();
  first.respond = (response) => void responded.promise.then(() => response.end());
  store.webhooks.send();
  await store.create({ id: 1n, name: 'Hoya' });
  await vi.waitFor(() => expect(first.received).toHaveLength(1));
  await operator.webhooks.delete('partner');
  second.secret = (await operator.webhooks.create(second.url, { name: 'partner', from })).secret;
  await vi.waitFor(
    async () => expect(await sql`select from webhooks where holder is not null`).toHaveLength(1),
    { timeout: 10_000 },
  );
  responded.resolve();
  await vi.waitFor(() => expect(second.changes()).toEqual(['created 1']));
});

it('sends each change only once, even with several instances', async () => {
  const { databaseUrl, store } = await createStore({ webhooks });
  const stores = [store, await openAnother(databaseUrl), await openAnother(databaseUrl)];
  const receiver = await startReceiver();
  receiver.secret = (await store.webhooks.create(receiver.url)).secret;
  for (const { webhooks } of stores) webhooks.send();
  const plants = Array.from({ length: 300 }, (_, i) => ({ id: BigInt(i), name: 'x' }));
  await store.createMany(plants);
  await vi.waitFor(() => expect(receiver.changes()).toHaveLength(300));
  expect(receiver.received.flatMap(({ changes }) => changes)).toHaveLength(300);
});

it('sends the changes of a message without a body, which an earlier version has stored', async () => {
  const { sql, store } = await createStore({ webhooks });
  const receiver = await startReceiver();
  receiver.secret = (await store.webhooks.create(receiver.url)).secret;
  await store.create({ id: 1n, name: 'Hoya' });
  await sql`
    update webhooks
    set message = jsonb_build_object('id', 'msg_1', 'type', 'plants.changed', 'to', cursor)`;
  store.webhooks.send();
  await vi.waitFor(() => expect(receiver.changes()).toEqual(['created 1']));
});
