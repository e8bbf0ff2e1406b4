import { startPostgres, type TestPostgres } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { beforeEach, expect, it } from 'vitest';
import { runDoctor } from '../../src/operator.ts';
import {
  aloneForSuite,
  connectForTest,
  holdOpen,
  openAnother,
  openForTest,
  urlOf,
} from '../fixtures/open-store.ts';
import { newPlants } from '../fixtures/plants.ts';
import { postgresServer } from '../fixtures/profiles.ts';
import { allTables, createRole } from '../fixtures/roles.ts';

// The open transactions of this suite would delay the feed in other test files.
const profile = aloneForSuite(postgresServer);
let sql: postgres.Sql;
let url: string;

beforeEach(async () => {
  const opened = await openForTest(profile);
  sql = opened.sql;
  url = urlOf(opened.options);
});

/** Returns each finding that is not ok, as text. */
async function examine(databaseUrl = url): Promise<string[]> {
  const findings = await runDoctor({ databaseUrl });
  return findings
    .filter(({ level }) => level !== 'ok')
    .map(({ check, level, message }) => `${level} ${check}: ${message}`);
}

it('doctor finds no problem in a healthy database, and changes nothing', async () => {
  expect(await runDoctor({ databaseUrl: url })).toEqual([
    { check: 'connection', level: 'ok', message: expect.stringMatching(/^Postgres \d+/) },
    { check: 'trial', level: 'ok', message: 'a create, a get and a delete work' },
  ]);
  expect(await sql`select id from plants union all select id from plant_deletions`).toEqual([]);
});

it('doctor names a missing table', async () => {
  const { options, remove } = await profile.create();
  expect(await examine(urlOf(options))).toContainEqual(
    expect.stringMatching(/^problem tables: the database has no table plants: start the server/),
  );
  await remove();
});

it('doctor reports a wrong password, and does not show the password', async () => {
  await sql`create role with_password`.catch(() => {}); // This role may exist already.
  const options = "password 'right' in role with_password";
  const role = await createRole(sql, url, { options });
  const wrong = Object.assign(new URL(role.url), { password: 'secret' }).href;
  const [finding, ...others] = await examine(wrong);
  expect(finding).toMatch(/^problem connection: .*: check the user and the password/);
  expect(finding).not.toContain('secret');
  expect(others).toEqual([]);
});

it('doctor reports that the database accepts no writes', async () => {
  const name = new URL(url).pathname.slice(1);
  await sql.unsafe(`alter database "${name}" set default_transaction_read_only = on`);
  expect(await examine()).toEqual([
    expect.stringMatching(/^problem connection: the database accepts no writes: free some room/),
  ]);
});

it('doctor names each missing privilege', async () => {
  const grants = ['select, insert, update on all tables in schema public'];
  const { role, url: limited } = await createRole(sql, url, { grants });
  expect((await examine(limited)).toSorted()).toEqual([
    `problem privileges: a privilege is missing: run GRANT DELETE ON plant_deletions TO ${role}`,
    `problem privileges: a privilege is missing: run GRANT DELETE ON plants TO ${role}`,
    `problem privileges: a privilege is missing: run GRANT DELETE ON webhooks TO ${role}`,
  ]);
});

it('doctor reports forced row-level security', async () => {
  const { role, url: owner } = await createRole(sql, url, { grants: [allTables] });
  await sql.unsafe(`alter table plants owner to ${role}`);
  await sql`alter table plants enable row level security`;
  await sql`alter table plants force row level security`;
  expect(await examine(owner)).toEqual([
    expect.stringMatching(/^problem trial: .*row-level security .*DISABLE ROW LEVEL SECURITY/),
  ]);
});

it('doctor reports a column of another type', async () => {
  await sql`alter table plants alter column name type varchar(10)`;
  expect(await examine()).toEqual([
    expect.stringMatching(/^problem trial: value too long .*: give the columns .* type text/),
  ]);
});

it.each([
  ['insert', 'stops creates'],
  ['delete', 'stops deletes'],
])('doctor reports that a trigger discards each %s', async (event, what) => {
  await sql.unsafe(`
    create function swallow() returns trigger language plpgsql as 'begin return null; end';
    create trigger swallow before ${event} on plants for each row execute function swallow()`);
  expect(await examine()).toEqual([expect.stringMatching(`^problem trial: .*${what}: drop it`)]);
});

it('doctor names the session that has locked the table', async () => {
  const release = await holdOpen(sql, 'lock table plants in access exclusive mode');
  const findings = await examine();
  await release();
  expect(findings).toEqual([
    expect.stringMatching(
      /^problem trial: canceling statement due to lock timeout: end the session/,
    ),
    expect.stringMatching(
      /^problem locks: session \d+ .* has locked plants: wait, or run SELECT pg_terminate_backend/,
    ),
  ]);
});

it('doctor names the session whose transaction delays the feed', async () => {
  const [plant] = newPlants(1);
  const release = await holdOpen(sql, `insert into plants (id, name) values (${plant?.id}, 'x')`);
  await expect
    .poll(() => examine(), { timeout: 60_000, interval: 1_000 })
    .toEqual([expect.stringMatching(/^warning feed: a transaction of session \d+ has run for/)]);
  await release();
});

it('doctor reports that commits wait for a standby, and leaves no waiting commit', async () => {
  const server: TestPostgres = await startPostgres({ fsync: 'off' });
  const store = await openAnother(server.url, { requireConnection: true });
  await store.close();
  const admin = connectForTest(server.url);
  await admin`set synchronous_commit = local`;
  await admin`alter system set synchronous_standby_names = 'far_away'`;
  await admin`select pg_reload_conf()`;
  await expect
    .poll(() => examine(server.url))
    .toEqual([
      expect.stringMatching(
        /^problem commit: .* longer than a second: .*no standby of far_away responds/,
      ),
    ]);
  await expect
    .poll(() => admin`select pid, query from pg_stat_activity where wait_event = 'SyncRep'`)
    .toEqual([]);
  await server.stop();
});
