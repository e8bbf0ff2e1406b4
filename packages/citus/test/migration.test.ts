import type postgres from 'postgres';
import { beforeEach, expect, it } from 'vitest';
import { createConnectToPrimary } from '../../core/src/postgres/connect-to-primary.ts';
import { migratePostgres } from '../../core/src/postgres/migration/migration.ts';
import { connectToNew } from '../../core/test/fixtures/databases.ts';
import { citus } from '../src/index.ts';

let databaseUrl: string;
let sql: postgres.Sql;

beforeEach(async () => {
  ({ databaseUrl, sql } = await connectToNew());
});

const migrate = () => migratePostgres(createConnectToPrimary(databaseUrl), citus);

const tables = async () => {
  const rows = await sql`select tablename from pg_tables where schemaname = 'public' order by 1`;
  return rows.map(({ tablename }) => tablename);
};

/** Makes the database look like a node of a cluster. */
async function joinCluster(group: number): Promise<void> {
  await sql`
    insert into pg_extension
      (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    select 1234567, 'citus', extowner, extnamespace, extrelocatable, extversion
    from pg_extension where extname = 'plpgsql'`;
  await sql`create schema citus`;
  await sql`create table citus.pg_dist_local_group as select ${group}::int as groupid`;
  await sql.unsafe(`alter database ${sql.options.database} set search_path = public, citus`);
}

it('migrates the tables on the coordinator', async () => {
  await joinCluster(0);
  await migrate();
  expect(await tables()).toEqual([
    'access_tokens',
    'plant_deletions',
    'plant_feed',
    'plants',
    'webhooks',
  ]);
  await migrate();
});

it('says on a worker how to create the missing tables', async () => {
  await joinCluster(1);
  await expect(migrate()).rejects.toThrow(
    'this worker of a Citus cluster does not have the current tables: start an instance on the ' +
      'coordinator, and run plant-store distribute there once',
  );
  expect(await tables()).toEqual([]);
});
