import type postgres from 'postgres';
import { beforeEach, expect, it, vi } from 'vitest';
import { buildFeedIndex } from '../../src/changes/epoch/feed-index.ts';
import type { Query } from '../../src/database/query.ts';
import { createConnectToPrimary } from '../../src/postgres/connect-to-primary.ts';
import { connectToNew } from '../fixtures/databases.ts';

let databaseUrl: string;
let sql: postgres.Sql;

beforeEach(async () => {
  ({ databaseUrl, sql } = await connectToNew());
  await sql`create table plants (id bigint primary key, changed_in xid8)`;
});

/** Reads the index from the catalog. A new build makes an index with a new id. */
const index = () =>
  sql`select indexrelid, indisvalid, pg_get_indexdef(indexrelid) as definition
    from pg_index where indexrelid = to_regclass('plants_changed_in')`;

/** Builds the index on a new connection. Returns the statements that were sent so far. */
async function build() {
  const limits = { timeout: 60_000, lockTimeout: 60_000 };
  const connection = await createConnectToPrimary(databaseUrl, limits)();
  const sent: string[] = [];
  const query: Query = (text, ...rest) => {
    sent.push(text.trim().split(' ', 1).join());
    return connection.query(text, ...rest);
  };
  const built = buildFeedIndex(query).finally(() => connection.close());
  return { sent, built };
}

it('builds the index once', async () => {
  await (await build()).built;
  const [first] = await index();
  expect(first).toMatchObject({
    indisvalid: true,
    definition: expect.stringMatching(/\(changed_in, id\) WHERE \(changed_in IS NOT NULL\)$/),
  });
  const { sent, built } = await build();
  await built;
  expect(sent).toEqual(['select']);
  expect(await index()).toEqual([first]);
});

it('builds the index again when the index is invalid after an interrupted build', async () => {
  await (await build()).built;
  const [first] = await index();
  await sql`update pg_index set indisvalid = false where indexrelid = 'plants_changed_in'::regclass`;
  const { sent, built } = await build();
  await built;
  expect(sent).toEqual(['select', 'drop', 'create', 'select']);
  const [second] = await index();
  expect(second).toEqual({ ...first, indexrelid: expect.any(Number) });
  expect(second?.['indexrelid']).not.toBe(first?.['indexrelid']);
});

it('waits while another instance builds the index, and blocks no create meanwhile', async () => {
  const other = await sql.reserve();
  await other`begin`;
  // The build of the index waits for the end of this open transaction.
  await other`select pg_current_xact_id()`;
  const first = await build();
  await vi.waitFor(async () =>
    expect(
      await sql`select from pg_stat_progress_create_index where datname = current_database()`,
    ).toHaveLength(1),
  );
  const second = await build();
  await vi.waitFor(() => expect(second.sent.length).toBeGreaterThan(1));
  await sql`insert into plants values (1)`;
  await other`commit`;
  other.release();
  await Promise.all([first.built, second.built]);
  expect(first.sent).toEqual(['select', 'create', 'select']);
  expect(new Set(second.sent)).toEqual(new Set(['select']));
  expect(await index()).toMatchObject([{ indisvalid: true }]);
});
