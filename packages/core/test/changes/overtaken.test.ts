import postgres from 'postgres';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { server } from '../fixtures/databases.ts';
import { startReceiver } from '../fixtures/receiver.ts';

let store: PlantStore;
let others: postgres.Sql;
let remove: () => Promise<void>;

beforeEach(async () => {
  const { options, remove: removeDatabase } = await server.provide();
  const webhooks = { allow: ['127.0.0.1'] };
  store = await openPlantStore(options, { requireConnection: true, webhooks });
  others = postgres(String(Object(options).databaseUrl), { max: 2 });
  remove = removeDatabase;
});
afterEach(async () => {
  await store.close();
  await others.end();
  await remove();
});

it('keeps a plant whose transaction began before the delete of an earlier plant with the same id', async () => {
  await store.create({ id: 2n, name: 'old', tag: 'Hoya' });
  const { next: after } = await store.changes({});

  const holding = await others.reserve();
  await holding`begin`;
  await holding`insert into plants (id, name) values (1, 'held')`;
  const isHeld = () => others`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  const creating = store.createMany([
    { id: 1n, name: 'new' },
    { id: 2n, name: 'new' },
  ]);
  await vi.waitFor(async () => expect(await isHeld()).toHaveLength(1));
  await store.delete(2n);
  await holding`rollback`;
  holding.release();
  await creating;

  const changesAfter = async (cursor: string, tag?: string) => {
    const { changes, next } = await store.changes({ after: cursor, tag });
    return { next, told: changes.map(({ type, plant }) => `${type} ${plant.id} ${plant.name}`) };
  };
  const { told, next } = await changesAfter(after);
  expect(told).toEqual(['created 1 new', 'created 2 new']);
  // A client that copies only plants with the tag Hoya gets a delete, because the new plant has another tag.
  expect((await changesAfter(after, 'Hoya')).told).toEqual(['deleted 2 new']);
  // The same is true for a webhook that gets only deletes.
  const receiver = await startReceiver();
  const options = { tag: 'Hoya', only: 'deleted', from: after } as const;
  receiver.secret = (await store.webhooks.create(receiver.url, options)).secret;
  store.webhooks.send();
  await vi.waitFor(() => expect(receiver.changes()).toEqual(['deleted 2']));
  // The transaction of the first delete has a higher number than the cursor's transaction.
  const [position] = await others`select changed_in::text from plants where id = 2`;
  expect(BigInt(position?.['changed_in'])).toBeLessThan(await numberOfTheDelete());
  await store.delete(2n);
  expect((await changesAfter(next)).told).toEqual(['deleted 2 new']);
  expect((await changesAfter(after)).told).toEqual(['created 1 new', 'deleted 2 new']);
  expect((await changesAfter(after, 'Hoya')).told).toEqual(['deleted 2 new']);

  async function numberOfTheDelete(): Promise<bigint> {
    const [deletion] = await others`select changed_in::text from plant_deletions where id = 2`;
    return BigInt(deletion?.['changed_in']);
  }
});

it('puts only transactions with changes into a cursor, because a crash frees the other numbers', async () => {
  await store.create({ id: 1n, name: 'Monstera' });
  const { next: after } = await store.changes({});
  const rolledBack = others.begin(async (sql) => {
    await sql`insert into plants (id, name) values (2, 'Pothos')`;
    throw new Error('roll back');
  });
  await expect(rolledBack).rejects.toThrow('roll back');
  expect(await store.changes({})).toEqual({ changes: [], next: after });
  expect(await store.changes({ after })).toEqual({ changes: [], next: after });
});
