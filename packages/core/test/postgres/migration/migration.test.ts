import type postgres from 'postgres';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createConnectToPrimary } from '../../../src/postgres/connect-to-primary.ts';
import type { Connection } from '../../../src/postgres/connection.ts';
import { migratePostgres } from '../../../src/postgres/migration/migration.ts';
import { connectToNew, createUser } from '../../fixtures/databases.ts';
import { createOldTables } from '../../fixtures/old-tables.ts';

let databaseUrl: string;
let sql: postgres.Sql;

beforeEach(async () => {
  ({ databaseUrl, sql } = await connectToNew());
});

const connectAs = (url: string) =>
  createConnectToPrimary(url, { timeout: 60_000, lockTimeout: 60_000 });

const migrate = () => migratePostgres(connectAs(databaseUrl));

/** Returns a `connect` function that records the statements. */
function recording() {
  const sent: string[] = [];
  const connect = async () => {
    const connection = await connectAs(databaseUrl)();
    const query: Connection['query'] = (text, ...rest) => {
      sent.push(text);
      // The limit is short, so that the tests do not wait long for a lock.
      return connection.query(text.replace('lock_timeout = 4500', 'lock_timeout = 300'), ...rest);
    };
    return { ...connection, query };
  };
  return { connect, sent };
}

const tables = async () => {
  const rows = await sql`select tablename from pg_tables where schemaname = 'public' order by 1`;
  return rows.map(({ tablename }) => tablename);
};

const allTables = ['access_tokens', 'plant_deletions', 'plant_feed', 'plants', 'webhooks'];

const tagIndex = () =>
  sql`select indisvalid from pg_index where indexrelid = to_regclass('plants_tag')`;

const sessions = () => sql`
  select state, wait_event_type from pg_stat_activity
  where application_name like 'plant-store%' and datname = current_database()`;

it('creates the tables once, and closes the connection', async () => {
  await migrate();
  expect(await tables()).toEqual(allTables);
  expect(await tagIndex()).toEqual([{ indisvalid: true }]);
  const applied = await sql`select count(*) from drizzle.__drizzle_migrations`;
  const { connect, sent } = recording();
  await migratePostgres(connect);
  expect(sent.length).toBeGreaterThan(0);
  // The second migration sends only `select` statements.
  expect(sent.filter((text) => !text.trim().startsWith('select'))).toEqual([]);
  expect(await sql`select count(*) from drizzle.__drizzle_migrations`).toEqual([...applied]);
  await vi.waitFor(async () => expect(await sessions()).toEqual([]));
});

it('applies a migration that the list of migrations lacks, even when the tables are correct', async () => {
  await migrate();
  await sql`delete from drizzle.__drizzle_migrations`;
  // The migration fails, because the tables exist already.
  await expect(migrate()).rejects.toMatchObject({ code: '42P07' });
});

it('changes nothing when a statement of the migration fails, and closes the connection', async () => {
  await sql`create table access_tokens (name text)`;
  await expect(migrate()).rejects.toMatchObject({ code: '42P07' });
  expect(await tables()).toEqual(['access_tokens']);
  await vi.waitFor(async () => expect(await sessions()).toEqual([]));
});

it('waits for a lock while another instance migrates, and then gives up', async () => {
  const other = await sql.reserve();
  await other`begin`;
  await other`select pg_advisory_xact_lock(${0x706c616e7473})`;
  const { connect, sent } = recording();
  const failed = expect(migratePostgres(connect)).rejects.toMatchObject({ code: '55P03' });
  await vi.waitFor(async () =>
    expect(
      await other`
      select from pg_locks join pg_database on oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`,
    ).toHaveLength(1),
  );
  await failed;
  expect(sent.slice(-3)).toEqual([
    'begin',
    'set local lock_timeout = 4500',
    `select pg_advisory_xact_lock(${0x706c616e7473})`,
  ]);
  await other`rollback`;
  other.release();
  expect(await tables()).toEqual([]);
});

describe('a user without privileges', () => {
  const userWith = (...grants: string[]) => createUser(sql, databaseUrl, ...grants);

  it('gets an error that names the missing grants', async () => {
    const { user, url } = await userWith();
    const database = sql.options.database;
    await expect(migratePostgres(connectAs(url))).rejects.toMatchObject({
      name: 'DatabaseSettingsError',
      message: expect.stringContaining(
        `(permission denied for database ${database}): grant its user the privilege to create tables there (` +
          `GRANT CREATE ON DATABASE ${database} TO ${user}; GRANT CREATE ON SCHEMA public TO ${user}` +
          '), or start the server once as a user that has it',
      ),
    });
    expect(await tables()).toEqual([]);
  });

  it('gets an error that names the missing privilege on the schema, or the wrong search_path', async () => {
    const { user, url } = await userWith(
      `create on database ${sql.options.database}`,
      'create on schema public',
    );
    await sql`revoke usage on schema public from public`;
    await expect(migratePostgres(connectAs(url))).rejects.toThrow(
      `there (GRANT USAGE ON SCHEMA public TO ${user}), or start`,
    );
    await sql`grant usage on schema public to public`;
    await sql.unsafe(`alter role ${user} set search_path = absent`);
    await expect(migratePostgres(connectAs(url))).rejects.toThrow(
      "(no schema has been selected to create in): let its user's search_path name an existing schema",
    );
  });

  it('gets an error that names the owner when the tables are of an earlier version', async () => {
    await createOldTables(databaseUrl, 3);
    const { url } = await userWith(
      `create on database ${sql.options.database}`,
      'create, usage on schema public, drizzle',
      'all on all tables in schema public, drizzle',
      'all on all sequences in schema drizzle',
    );
    await expect(migratePostgres(connectAs(url))).rejects.toThrow(
      ': its tables are of an earlier version, so start the server once as their owner',
    );
  });

  it('needs no privilege on the list of migrations when the tables fit this version of the store', async () => {
    await migrate();
    const { url } = await userWith();
    await sql`alter table plants alter changed_in set default pg_current_xact_id()`;
    await migratePostgres(connectAs(url));
    await sql`alter table access_tokens drop column scope`;
    await expect(migratePostgres(connectAs(url))).rejects.toMatchObject({
      name: 'DatabaseSettingsError',
    });
  });
});
