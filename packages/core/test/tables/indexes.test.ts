import type postgres from 'postgres';
import { beforeEach, expect, it } from 'vitest';
import type { Query } from '../../src/database/query.ts';
import { createConnectToPrimary } from '../../src/postgres/connect-to-primary.ts';
import { buildIndexes } from '../../src/tables/indexes.ts';
import { connectToNew } from '../fixtures/databases.ts';

let databaseUrl: string;
let sql: postgres.Sql;

beforeEach(async () => {
  ({ databaseUrl, sql } = await connectToNew());
});

const createTable = () => sql`create table plants (id bigint primary key, tag text)`;

/** Reads the index from the catalog. When the index is built again, `indexrelid` changes. */
const index = () =>
  sql`select indexrelid, indisvalid, pg_get_indexdef(indexrelid) as definition
    from pg_index where indexrelid = to_regclass('plants_tag')`;

/** Builds the indexes on a new connection. Returns the statements that were sent so far. */
async function build() {
  const connection = await createConnectToPrimary(databaseUrl, { timeout: 60_000 })();
  const sent: string[] = [];
  const query: Query = (text, ...rest) => {
    sent.push(text.trim().split(' ', 2).join(' '));
    return connection.query(text, ...rest);
  };
  const built = buildIndexes(query).finally(() => connection.close());
  return { sent, built };
}

const read = "select to_regclass('plants')";

it('does nothing when the table is missing', async () => {
  const { sent, built } = await build();
  await built;
  expect(sent).toEqual([read]);
});

it('builds the indexes only once', async () => {
  await createTable();
  await (await build()).built;
  const [first] = await index();
  expect(first).toMatchObject({
    indisvalid: true,
    definition: expect.stringMatching(
      /\(hashtextextended\(tag, .*\), id\) WHERE \(tag IS NOT NULL\)$/,
    ),
  });
  const { sent, built } = await build();
  await built;
  expect(sent).toEqual([read, read]);
  expect(await index()).toEqual([first]);
});

it('builds an index again when an interrupted build has left the index invalid', async () => {
  await createTable();
  await (await build()).built;
  const [first] = await index();
  await sql`update pg_index set indisvalid = false where indexrelid = 'plants_tag'::regclass`;
  const { sent, built } = await build();
  await built;
  expect(sent).toEqual([read, 'drop index', 'create index', read, read]);
  const [second] = await index();
  expect(second).toEqual({ ...first, indexrelid: expect.any(Number) });
  expect(second?.['indexrelid']).not.toBe(first?.['indexrelid']);
});
