import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeEach, expect, inject, it, onTestFinished, vi } from 'vitest';
import { createConnectToPrimary } from '../../../../src/database/postgres/connect-to-primary.ts';
import { migratePostgres } from '../../../../src/database/postgres/migration/migration.ts';

let databaseUrl: string;
let sql: postgres.Sql;

beforeEach(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  sql = postgres(databaseUrl);
  onTestFinished(() => sql.end());
});

const migrate = () =>
  migratePostgres(createConnectToPrimary(databaseUrl, { timeout: 60_000, lockTimeout: 60_000 }));

const tables = async () => {
  const rows = await sql`select tablename from pg_tables where schemaname = 'public' order by 1`;
  return rows.map(({ tablename }) => tablename);
};

const tagIndex = () =>
  sql`select indisvalid from pg_index where indexrelid = to_regclass('plants_tag')`;

const sessions = () => sql`
  select state, wait_event_type from pg_stat_activity
  where application_name = 'plant-store' and datname = current_database()`;

it('makes the tables once, and closes its connection', async () => {
  await migrate();
  expect(await tables()).toEqual(['access_tokens', 'plants']);
  expect(await tagIndex()).toEqual([{ indisvalid: true }]);
  const applied = await sql`select count(*) from drizzle.__drizzle_migrations`;
  await migrate();
  expect(await sql`select count(*) from drizzle.__drizzle_migrations`).toEqual([...applied]);
  await vi.waitFor(async () => expect(await sessions()).toEqual([]));
});

it('changes nothing when a statement of it fails, and closes its connection', async () => {
  await sql`create table access_tokens (name text)`;
  await expect(migrate()).rejects.toMatchObject({ code: '42P07' });
  expect(await tables()).toEqual(['access_tokens']);
  await vi.waitFor(async () => expect(await sessions()).toEqual([]));
});

it('waits while another instance migrates, and gives up a lock after 4.5 seconds', async () => {
  const other = await sql.reserve();
  await other`begin`;
  await other`select pg_advisory_xact_lock(${0x706c616e7473})`;
  const failed = expect(migrate()).rejects.toMatchObject({ code: '55P03' });
  await vi.waitFor(async () =>
    expect(
      await other`
      select from pg_locks join pg_database on oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`,
    ).toHaveLength(1),
  );
  await failed;
  await other`rollback`;
  other.release();
  expect(await tables()).toEqual([]);
});
