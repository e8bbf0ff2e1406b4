import { openPlantStore } from '@plant-store/core';
import {
  createDatabase,
  hasFileSizeLimit,
  hasPgBouncer,
  startPgBouncer,
  startPostgres,
} from '@plant-store/test-setup';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  copyMigrated,
  createUser,
  embeddedDatabase,
  migratedDatabase,
} from '../fixtures/database.ts';
import { hazardsOf } from '../fixtures/findings.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

// The tests change a database in a harmful way, and `doctor` must name the change.

async function database(server?: string) {
  const env = { DATABASE_URL: await (server ? createDatabase(server) : copyMigrated()) };
  const sql = await migratedDatabase(env);
  onTestFinished(() => sql.end());
  return { env, sql, name: new URL(env.DATABASE_URL).pathname.slice(1) };
}

/** Creates a user who has all privileges, but must obey row-level security. */
const withUser = ({ env, sql }: Awaited<ReturnType<typeof database>>) =>
  createUser(sql, env.DATABASE_URL, [
    'all on plants, plant_deletions, plant_feed, access_tokens, webhooks',
  ]);

const trigger = (event: string, body: string) => `
  create function change() returns trigger language plpgsql as $$ begin ${body} end $$;
  create trigger change before ${event} on plants for each row execute function change()`;

const warnOfTrigger = 'warning tables: the trigger change may change, reject or keep plants: make';
const warnOfConstraint = 'warning tables: the constraint rule may reject plants';
const invalid = (index: string) =>
  `update pg_index set indisvalid = false where indexrelid = '${index}'::regclass`;

/** Maps each harmful change to the findings of `doctor`. Each text is the start of a finding. */
const hazards: Record<string, string[]> = {
  'alter table plants set unlogged': [
    'problem durability: the table plants is UNLOGGED, so a crash of the database empties it: run',
  ],
  [trigger('insert', 'return null;')]: [
    warnOfTrigger,
    'problem writes: the table swallows plants, and each create gets 50001: drop',
  ],
  [trigger('insert', "new.name = 'other'; return new;")]: [
    warnOfTrigger,
    'problem writes: the table changes plants, although clients get 200: drop',
  ],
  [trigger('delete', 'return null;')]: [
    warnOfTrigger,
    'problem writes: the table keeps plants, and each delete gets 50001: drop',
  ],
  [trigger('insert', "raise 'not today';")]: [
    warnOfTrigger,
    'problem writes: a write fails, because a trigger rejects a plant (not today): drop',
  ],
  'create rule nothing as on insert to plants do instead nothing': [
    'problem writes: a write fails, because a rule of the table rejects the statements of the store (cannot',
  ],
  "alter table plants add constraint rule check (name = '')": [
    `${warnOfConstraint}, and their creates get 50001: unless`,
    'problem writes: a write fails, because the table does not allow a plant (new row for relation "plants"',
  ],
  'alter table plants drop constraint plants_pkey, add primary key (id) deferrable': [
    'problem writes: a write fails, because the database rejects the statement (ON CONFLICT does not',
  ],
  [invalid('plants_pkey')]: [
    'warning indexes: the index plants_pkey is invalid, so the database does not use it: unless some',
    'problem writes: a write fails, because the primary key of plants is missing or invalid (there is no',
  ],

  // The next changes concern only some plants, so `doctor` reports a warning and no problem.
  "alter table plants add constraint rule check (id > 0 and length(name) <= 200 and name ~ '^[A-Z][a-z].*[^ ]$')":
    [warnOfConstraint],
  'create unique index names on plants (name)': [
    'warning tables: the unique index names may reject plants',
  ],
  'alter table plants alter tag set not null': [
    'warning writes: for a plant without a tag, a write fails, because the table does not allow a plant (null value in column "tag"',
  ],
  "alter table plants add constraint rule check (tag in ('Araceae', 'Cactaceae'))": [
    warnOfConstraint,
    'warning writes: for a plant with a tag, a write fails, because the table does not allow a plant (new row',
  ],
  [trigger('insert', 'if new.tag is null then return null; end if; return new;')]: [
    warnOfTrigger,
    'warning writes: for a plant without a tag, the table swallows plants, and each create gets 50001: drop',
  ],
  [`insert into plants values (1, 'Hoya', 'Apocynaceae');
    alter table plants add constraint rule check (id < 1000000)`]: [
    warnOfConstraint,
    'warning writes: a write fails, because the table does not allow a plant (new row for relation "plants"',
  ],

  // The next changes make the store's requests slow, or end the store's database sessions.
  'drop index plants_tag, plant_deletions_id': [
    'warning indexes: the index plants_tag is missing, so some requests read a whole table: run CREATE INDEX ' +
      'CONCURRENTLY plants_tag ON plants (hashtextextended(tag, 0), id) where tag is not null',
    'warning indexes: the index plant_deletions_id is missing, so some requests read a whole table: run CREATE ' +
      'INDEX CONCURRENTLY plant_deletions_id ON plant_deletions (id, changed_in)',
  ],
  [invalid('plants_tag')]: [
    'warning indexes: the index plants_tag is invalid, so the database does not use it',
  ],
  'alter table plants set (autovacuum_enabled = off)': [
    'warning vacuum: autovacuum is off for plants, so the table only grows',
  ],
  [`alter database :name set idle_session_timeout = '1min';
    alter database :name set idle_in_transaction_session_timeout = '2s';
    alter database :name set transaction_timeout = '1min'`]: [
    'warning sessions: idle_in_transaction_session_timeout is set',
    'warning sessions: idle_session_timeout is set, so the database may end a session of the store',
    'warning sessions: transaction_timeout is set',
  ],
  'alter database :name connection limit 5': [
    'warning sessions: DATABASE :name may have 5 connections, and each process of the server opens up to 7',
  ],
};

it.each(Object.entries(hazards))('finds the effect of: %s', async (change, expected) => {
  const { env, sql, name } = await database();
  await sql.unsafe(change.replaceAll(':name', name));
  expect(await hazardsOf(env)).toEqual(
    expected.map((start) => expect.stringContaining(start.replace(':name', name))),
  );
  expect(await sql`select from plants where id > 1`).toEqual([]);
});

it('tries a create and a delete, and stores nothing', async () => {
  const { env, sql } = await database();
  const { stdout } = await run(['doctor'], { env });
  expect(stdout).toMatch(/^ok +writes +a create and a delete work; both are undone$/m);
  expect(await sql`select from plants union all select from plant_deletions`).toEqual([]);
});

it('does not warn of a setting that the store overrides', async () => {
  const { env, sql, name } = await database();
  await sql.unsafe(`alter database ${name} set statement_timeout = '50ms'`);
  await sql.unsafe(`alter database ${name} set idle_in_transaction_session_timeout = '1d'`);
  await sql`insert into plants (id, name) select id, repeat('x', 500) from generate_series(1, 2e5) as id`;
  expect(await hazardsOf(env)).toEqual([]);
  const { code, stderr } = await run(['export'], { env });
  expect([code, stderr]).toEqual([0, '']);
});

it.each(['plants', 'access_tokens', 'plant_deletions'])(
  'finds that row-level security on %s hides rows from the store',
  async (table) => {
    const made = await database();
    const { env } = await withUser(made);
    await made.sql.unsafe(`alter table ${table} enable row level security`);
    expect(await hazardsOf(env)).toEqual([
      expect.stringMatching(
        `^problem writes: a write fails, because row-level security hides rows from the store .*"${table}"`,
      ),
    ]);
    expect(await hazardsOf(made.env)).toEqual([]); // Row-level security does not apply to superusers.
  },
);

describe('faults of a whole server', () => {
  it('finds a missing synchronous standby, and autovacuum that is off', async () => {
    const server = await startPostgres({ fsync: 'off', autovacuum: 'off' });
    onTestFinished(() => server.stop());
    const { env, sql } = await database(server.url);
    expect(await hazardsOf(env)).toEqual([
      'warning vacuum: autovacuum is off, so each table only grows, and its requests slow down: set autovacuum = on',
    ]);
    await sql`alter system set synchronous_standby_names = 'nobody'`;
    await sql`select pg_reload_conf()`;
    await vi.waitFor(async () => {
      expect(await hazardsOf(env)).toContain(
        'problem writes: each create waits for a synchronous standby and gets 50300 (synchronous_standby_names ' +
          "= 'nobody'): start that standby, or remove it from the setting",
      );
    });
    await sql`alter system reset synchronous_standby_names`;
    await sql`select pg_reload_conf()`;
  });

  it.runIf(hasFileSizeLimit)('finds a disk without free space', async () => {
    const server = await startPostgres(
      { fsync: 'off', wal_level: 'minimal', max_wal_senders: '0' },
      { maxFileSize: 4_096 },
    );
    onTestFinished(() => server.stop());
    const { env, sql } = await database(server.url);
    expect(await hazardsOf(env)).toEqual([]);
    const fill = sql`insert into plants select -generate_series(1, 100000), repeat('x', 300)`;
    await expect(fill).rejects.toThrow('could not extend file');
    await expect(
      sql`insert into plants select -1, repeat('x', 300) from generate_series(1, 1)`,
    ).rejects.toThrow();
    expect(await hazardsOf(env)).toEqual([
      expect.stringContaining('problem writes: a write fails, because'),
    ]);
  });
});

describe.runIf(hasPgBouncer)('behind PgBouncer', () => {
  async function hazardsBehindPooler(env: { DATABASE_URL: string }, mode?: 'statement') {
    const pooler = await startPgBouncer(env.DATABASE_URL, 5, mode);
    onTestFinished(() => pooler.stop());
    return hazardsOf({ DATABASE_URL: pooler.url });
  }

  it('finds statement mode', async () => {
    const { env } = await database();
    expect(await hazardsBehindPooler(env, 'statement')).toEqual([
      'problem connection: the pooler in front of the database rejects transactions (it closed the connection at ' +
        'the begin of a transaction): set its pool_mode to transaction or session: statement mode is not enough',
    ]);
  });

  it('finds other values of the settings that the store relies on', async () => {
    const made = await database();
    const { user, env } = await withUser(made);
    await made.sql.unsafe(`
      alter role ${user} set client_min_messages = error;
      alter role ${user} set default_transaction_isolation = 'repeatable read'`);
    const findings = await hazardsBehindPooler(env);
    const remedy = `run ALTER ROLE ${user} SET`;
    expect(findings.filter((finding) => finding.startsWith('problem'))).toEqual([
      expect.stringContaining(`${remedy} client_min_messages = 'notice'`),
      expect.stringContaining(`${remedy} default_transaction_isolation = 'read committed'`),
    ]);
    expect(await hazardsOf(env)).toEqual([]);
  });

  it('finds a statement_timeout of the user, and row-level security', async () => {
    const made = await database();
    const { user, env } = await withUser(made);
    await made.sql.unsafe(`alter role ${user} set statement_timeout = '900ms'`);
    await made.sql`alter table plants enable row level security`;
    const findings = await hazardsBehindPooler(env);
    expect(findings.filter((finding) => !finding.includes('use 1.21 or newer'))).toEqual([
      `warning sessions: the database cancels each statement after 900 ms, and its request gets 50300: run ALTER ROLE ` +
        `${user} SET statement_timeout = '5s', and remove it from DATABASE_URL`,
      expect.stringContaining(
        'problem writes: a write fails, because row-level security hides rows',
      ),
    ]);
  });
});

it('finds a trigger that swallows plants in an embedded database', async () => {
  const path = directory.path('store');
  const env = { DATABASE_URL: '', ...(await embeddedDatabase(path)) };
  await (await openPlantStore({ dataDirectory: path })).close();
  expect(await hazardsOf(env)).toEqual([]);
  const { PGlite } = await import('@electric-sql/pglite');
  const client = await PGlite.create(`${path}/postgres`);
  await client.exec(trigger('insert', 'return null;'));
  await client.close();
  expect(await hazardsOf(env)).toEqual([
    expect.stringContaining(warnOfTrigger),
    expect.stringContaining(
      'problem writes: the table swallows plants, and each create gets 50001',
    ),
  ]);
});
