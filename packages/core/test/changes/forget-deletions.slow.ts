import { describe, expect, it, vi } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';
import { summaryOf } from '../fixtures/changes.ts';
import { closeAtEnd, createStore, embedded, openStore, server } from '../fixtures/databases.ts';

const tooOld = { code: 41000, message: expect.stringContaining('the cursor is too old') };

describe.each([server, embedded])('on $name', ({ provide }) => {
  it('forgets deletions, and rejects cursors from before the forgotten deletions', async () => {
    const store = await openStore(provide);
    await store.load([1n, 2n, 3n].map((id) => ({ id, name: 'x' })));
    const { next: before } = await store.changes({});
    await store.deleteMany([1n, 2n]);
    const { next: within } = await store.changes({ after: before, limit: 1 });
    const { next: behind } = await store.changes({ after: before });
    expect(await store.forgetDeletions(1)).toBe(0);
    expect(summaryOf(await store.changes({ after: before }))).toEqual(['deleted 1', 'deleted 2']);
    expect(await store.forgetDeletions(0)).toBe(2);
    expect(await store.forgetDeletions(0)).toBe(0);
    for (const after of [before, within]) {
      await expect(store.changes({ after })).rejects.toMatchObject(tooOld);
    }
    // A new cursor comes after all forgotten deletions, so the new cursor is valid.
    expect((await store.changes({})).next).toBe(behind);
    await store.create({ id: 4n, name: 'x' });
    expect(summaryOf(await store.changes({ after: behind }))).toEqual(['created 4']);
  });
});

async function open() {
  const { databaseUrl, store, sql } = await createStore();
  /** Records deletes in one transaction, as if the deletes had happened the given number of days ago. */
  const deleteDaysAgo = (days: number, from: number, to: number) => sql`
    insert into plant_deletions (id, name, created_at, deleted_at)
    select id, 'x', now(), now() - make_interval(days => ${days}) from generate_series(${from}::int, ${to}) as id`;
  const ids = async () => {
    const rows = await sql`select id from plant_deletions order by changed_in, id`;
    return rows.map(({ id }) => Number(id));
  };
  return { databaseUrl, store, sql, deleteDaysAgo, ids };
}

it('forgets only old deletions, in steps of 1,000', async () => {
  const { store, deleteDaysAgo, ids } = await open();
  await deleteDaysAgo(8, 1, 2_500);
  await deleteDaysAgo(6, 2_501, 2_502);
  await deleteDaysAgo(9, 2_503, 2_503); // A wrong clock gave the newest deletion an old time.
  expect(await store.forgetDeletions(7)).toBe(2_501);
  expect(await ids()).toEqual([2_501, 2_502]);
});

it('throws error 41000 for a cursor in the middle of a partly forgotten transaction', async () => {
  const { store, sql, deleteDaysAgo } = await open();
  const { next } = await store.changes({});
  await deleteDaysAgo(8, 1, 1_500);
  const { next: within } = await store.changes({ after: next, limit: 500 });
  const { next: late } = await store.changes({ after: within, limit: 1_000 });
  const lock = await sql.reserve();
  // This transaction locks a row that the second step deletes, so the second step times out.
  await lock`begin`;
  await lock`select from plant_deletions where id = 1500 for update`;
  await expect(store.forgetDeletions(7)).rejects.toMatchObject({ databaseCode: '55P03' });
  await lock`rollback`;
  lock.release();
  expect(await sql`select from plant_deletions`).toHaveLength(500);
  await expect(store.changes({ after: within })).rejects.toMatchObject(tooOld);
  expect((await store.changes({ after: late })).changes).toEqual([]);
});

it('does nothing while another instance forgets deletions', async () => {
  const { databaseUrl, store, sql, deleteDaysAgo, ids } = await open();
  await deleteDaysAgo(8, 1, 1);
  const other = closeAtEnd(await openPlantStore({ databaseUrl }));
  const lock = await sql.reserve();
  await lock`begin`;
  await lock`select from plant_deletions for update`;
  const forgetting = store.forgetDeletions(7);
  await vi.waitFor(async () =>
    expect(
      await sql`select from pg_locks where locktype = 'advisory' and database = (
        select oid from pg_database where datname = current_database())`,
    ).toHaveLength(1),
  );
  expect(await other.forgetDeletions(7)).toBe(0);
  await lock`rollback`;
  lock.release();
  expect(await forgetting).toBe(1);
  expect(await ids()).toEqual([]);
});

it('forgets nothing while the feed belongs to another server', async () => {
  const { store, sql, deleteDaysAgo, ids } = await open();
  await deleteDaysAgo(8, 1, 1);
  await sql`update plant_feed set system_identifier = 1`;
  expect(await store.forgetDeletions(7)).toBe(0);
  expect(await ids()).toEqual([1]);
});
