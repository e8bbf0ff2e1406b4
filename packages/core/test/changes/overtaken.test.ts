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
  others = postgres(String(Object(options).databaseUrl), { max: 4 });
  remove = removeDatabase;
});
afterEach(async () => {
  await store.close();
  await others.end({ timeout: 0 });
  await remove();
});

it('shows the create of a plant even when the delete of the old plant with this id has a higher transaction number', async () => {
  await store.create({ id: 2n, name: 'old', tag: 'Hoya' });
  const { next: after } = await store.changes({});

  const holding = await holdTransaction((sql) => sql`insert into plants (id, name) values (1, '')`);
  const creating = store.createMany([
    { id: 1n, name: 'new' },
    { id: 2n, name: 'new' },
  ]);
  await vi.waitFor(async () => expect(await waitingForLocks()).toHaveLength(1));
  await store.delete(2n);
  await holding.end();
  await creating;

  const changesAfter = async (cursor: string, tag?: string) => {
    const { changes, next } = await store.changes({ after: cursor, tag });
    return { next, told: changes.map(({ type, plant }) => `${type} ${plant.id} ${plant.name}`) };
  };
  const { told, next } = await changesAfter(after);
  expect(told).toEqual(['created 1 new', 'created 2 new']);
  // Only the old plant had the tag Hoya, so the changes with the tag Hoya contain only a delete.
  expect((await changesAfter(after, 'Hoya')).told).toEqual(['deleted 2 new']);
  // The same is true for a webhook that gets only deletes.
  const receiver = await startReceiver();
  const options = { tag: 'Hoya', only: 'deleted', from: after } as const;
  receiver.secret = (await store.webhooks.create(receiver.url, options)).secret;
  store.webhooks.send();
  await vi.waitFor(() => expect(receiver.changes()).toEqual(['deleted 2']));
  // The delete of the old plant has a higher transaction number than the create of the new plant.
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

it('omits a delete after the create of a later plant, even while the feed hides the later delete', async () => {
  await store.create({ id: 2n, name: 'old' });
  const { next: after } = await store.changes({});
  const blocking = await holdTransaction(
    (sql) => sql`insert into plants (id, name) values (1, '')`,
  );
  const creating = store.createMany([
    { id: 1n, name: 'new' },
    { id: 2n, name: 'new' },
  ]);
  await vi.waitFor(async () => expect(await waitingForLocks()).toHaveLength(1));
  const beforeDelete = await holdTransaction();
  await store.delete(2n);
  await blocking.end();
  await creating;
  const created = await store.changes({ after });
  expect(created.changes.map(({ type, plant }) => `${type} ${plant.id}`)).toEqual([
    'created 1',
    'created 2',
  ]);

  const beforeLaterDelete = await holdTransaction();
  await store.delete(2n);
  await beforeDelete.end();
  expect(await store.changes({ after: created.next })).toMatchObject({ changes: [] });
  await beforeLaterDelete.end();
  const { changes } = await store.changes({ after: created.next });
  expect(changes).toMatchObject([{ type: 'deleted', plant: { id: 2n, name: 'new' } }]);
});

/** Begins a transaction with a number. While the transaction runs, the feed hides all later transactions. */
async function holdTransaction(write = (sql: postgres.Sql) => sql`select pg_current_xact_id()`) {
  const sql = await others.reserve();
  await sql`begin`;
  await write(sql);
  return {
    async end() {
      await sql`rollback`;
      sql.release();
    },
  };
}

const waitingForLocks = () => others`
  select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

it('puts no number of a rolled-back transaction into a cursor, because after a crash another transaction can get this number', async () => {
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
