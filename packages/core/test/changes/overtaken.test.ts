import postgres from 'postgres';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { server } from '../fixtures/databases.ts';

let store: PlantStore;
let others: postgres.Sql;
let remove: () => Promise<void>;

beforeEach(async () => {
  const { options, remove: removeDatabase } = await server.provide();
  store = await openPlantStore(options, { requireConnection: true });
  others = postgres(String(Object(options).databaseUrl), { max: 2 });
  remove = removeDatabase;
});
afterEach(async () => {
  await store.close();
  await others.end();
  await remove();
});

it('shows the create of a plant even when the delete of the old plant with this id has a higher transaction number', async () => {
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
  // Only the old plant had the tag Hoya, so the changes with the tag Hoya contain only a delete.
  expect((await changesAfter(after, 'Hoya')).told).toEqual(['deleted 2 new']);
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

it('does not move the cursor for a rolled-back transaction, because Postgres can use the number again after a crash', async () => {
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
