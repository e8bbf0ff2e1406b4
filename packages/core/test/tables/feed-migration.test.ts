import type postgres from 'postgres';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';
import { closeAtEnd, connectToNew } from '../fixtures/databases.ts';
import { createOldTables } from '../fixtures/old-tables.ts';

let databaseUrl: string;
let sql: postgres.Sql;

/** Creates the tables of an old version of the store, which had no feed, and adds plants. */
beforeEach(async () => {
  ({ databaseUrl, sql } = await connectToNew());
  await createOldTables(databaseUrl, 3);
  await sql`insert into plants (id, name) select id, 'old' from generate_series(1, 1000) as id`;
});

async function open() {
  return closeAtEnd(await openPlantStore({ databaseUrl }, { requireConnection: true }));
}

const insert = (id: number) => sql`insert into plants (id, name) values (${id}, 'new')`;

describe('the migration to the feed', () => {
  it('does not rewrite the table, and does not add the existing plants to the feed', async () => {
    const file = () => sql`select pg_relation_filenode('plants'), pg_relation_size('plants')`;
    const before = await file();
    const store = await open();
    expect(await file()).toEqual(before);
    expect(await sql`select from plants where changed_in is not null`).toEqual([]);
    const { next } = await store.changes({});
    await store.delete(1n);
    await insert(1001); // An instance of the old version would send the same INSERT statement.
    const { changes } = await store.changes({ after: next });
    expect(changes.map(({ type, plant }) => `${type} ${plant.id}`)).toEqual([
      'deleted 1',
      'created 1001',
    ]);
  });

  it('blocks no create while a new instance builds the index and another new instance starts', async () => {
    const other = await sql.reserve();
    await other`begin`;
    // The build of the index waits for the end of this open transaction.
    await other`select pg_current_xact_id()`;
    const building = () =>
      sql`select from pg_stat_progress_create_index where datname = current_database()`;
    const first = open();
    await vi.waitFor(async () => expect(await building()).toHaveLength(1));
    const second = open();
    await vi.waitFor(async () =>
      expect(
        await sql`
          select from pg_stat_activity
          where application_name like 'plant-store%' and datname = current_database()`,
      ).toHaveLength(2),
    );
    await insert(1001);
    expect(
      await sql`select from pg_locks where relation = 'plants'::regclass and not granted`,
    ).toEqual([]);
    await other`commit`;
    other.release();
    const stores = await Promise.all([first, second]);
    expect(
      await sql`select indisvalid, indpred is not null as is_partial from pg_index
        where indexrelid = 'plants_changed_in'::regclass`,
    ).toEqual([{ indisvalid: true, is_partial: true }]);
    expect(await sql`select from plant_feed`).toHaveLength(1);
    const cursors = await Promise.all(stores.map((store) => store.changes({})));
    expect(cursors[0]).toEqual(cursors[1]);
  });
});
