import type postgres from 'postgres';
import { beforeEach, expect, it, vi } from 'vitest';
import type { PlantStore } from '../../src/plant-store.ts';
import { summaryOf } from '../fixtures/changes.ts';
import { createStore } from '../fixtures/databases.ts';
import { startReceiver } from '../fixtures/receiver.ts';

let store: PlantStore;
let others: postgres.Sql;

beforeEach(async () => {
  ({ store, sql: others } = await createStore({ webhooks: { allow: ['127.0.0.1'] } }));
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
  const higher = others`
    select from plants join plant_deletions as deleted using (id) where deleted.changed_in > plants.changed_in`;
  expect(await higher).toHaveLength(1);
  await store.delete(2n);
  expect((await changesAfter(next)).told).toEqual(['deleted 2 new']);
  expect((await changesAfter(after)).told).toEqual(['created 1 new', 'deleted 2 new']);
  expect((await changesAfter(after, 'Hoya')).told).toEqual(['deleted 2 new']);
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
  expect(summaryOf(created)).toEqual(['created 1', 'created 2']);

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
