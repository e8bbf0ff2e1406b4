import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';
import { closeAtEnd, connectToNew } from '../fixtures/databases.ts';
import { createOldTables } from '../fixtures/old-tables.ts';

let databaseUrl: string;
let sql: postgres.Sql;

beforeEach(async () => {
  ({ databaseUrl, sql } = await connectToNew());
});

async function open() {
  return closeAtEnd(await openPlantStore({ databaseUrl }, { requireConnection: true }));
}

describe('the migration to scopes', () => {
  /** Statements of the version of the store that had no scopes. */
  const oldInsert = 'insert into plants (id, name, tag) values ($1, $2, $3) on conflict do nothing';
  const oldSelect = 'select sha256, name, created_at, expires_at, revoked_at, last_used_at';
  const oldToken = 'an old token';

  /** Makes a database like the version that had no scopes, with a plant and a token. */
  beforeEach(async () => {
    await createOldTables(databaseUrl, 2);
    await sql.unsafe(oldInsert, [1, 'Monstera deliciosa', 'Araceae']);
    const sha256 = createHash('sha256').update(oldToken).digest();
    await sql`insert into access_tokens (sha256, name) values (${sha256}, 'old')`;
  });

  it('gives an old token only the scope to create plants', async () => {
    const store = await open();
    const principal = { name: 'old', scopes: ['plants:create'] };
    expect(await store.accessTokens.authenticate(oldToken)).toMatchObject(principal);
    expect(await store.get(1n)).toMatchObject({ name: 'Monstera deliciosa', tag: 'Araceae' });
  });

  it('lets an instance of the old version work on the migrated tables', async () => {
    const store = await open();
    await sql.unsafe(oldInsert, [4, 'Calathea', 'Marantaceae']);
    await sql`insert into access_tokens (sha256, name) values (${Buffer.alloc(32)}, 'by the old one')`;
    expect(await sql.unsafe(`${oldSelect} from access_tokens`)).toHaveLength(2);
    expect(await store.list({ tag: 'Marantaceae', limit: 1 })).toMatchObject({
      plants: [{ id: 4n }],
    });
    const { tokens } = await store.accessTokens.list();
    expect(tokens.map(({ scopes }) => scopes)).toEqual([['plants:create'], ['plants:create']]);
  });

  it('uses the index for a list of plants with a tag', async () => {
    const store = await openPlantStore({ databaseUrl });
    await sql`
      insert into plants (id, name, tag)
      select i, 'x', case when i % 1000 = 0 then 'rare' else 'frequent' end
      from generate_series(10, 100000) as i`;
    await sql`analyze plants`;
    const scans = async () => {
      const [row] = await sql`
        select idx_scan, idx_tup_read from pg_stat_user_indexes where indexrelname = 'plants_tag'`;
      // The cast is safe, because the statement returns one row with these two columns.
      return row as { idx_scan: string; idx_tup_read: string };
    };
    const { plants } = await store.list({ tag: 'rare', limit: 1000 });
    expect(plants).toHaveLength(100);
    await store.close(); // A session reports its statistics when it ends, or within 10 s.
    await vi.waitFor(async () => expect(Number((await scans()).idx_scan)).toBeGreaterThan(0));
    expect(Number((await scans()).idx_tup_read)).toBeLessThan(1000);
  });
});

describe('the migration to the feed', () => {
  /** Creates the tables of an old version of the store, which had no feed, and adds plants. */
  beforeEach(async () => {
    await createOldTables(databaseUrl, 3);
    await sql`insert into plants (id, name) select id, 'old' from generate_series(1, 1000) as id`;
  });

  const insert = (id: number) => sql`insert into plants (id, name) values (${id}, 'new')`;

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
    expect(changes).toMatchObject([
      { type: 'deleted', plant: { id: 1n } },
      { type: 'created', plant: { id: 1001n } },
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
