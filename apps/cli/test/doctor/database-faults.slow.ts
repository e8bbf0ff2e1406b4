import { createServer } from 'node:net';
import { startFaultProxy } from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createUser, useDatabase } from '../fixtures/database.ts';
import { findingsOf } from '../fixtures/findings.ts';
import { listen } from '../fixtures/listen.ts';
import { run } from '../fixtures/run-program.ts';

const database = useDatabase({ isMigrated: true });
const { env } = database;

/** Returns the findings of one check as texts. */
async function findings(check: string, databaseUrl = env.DATABASE_URL): Promise<string[]> {
  return (await findingsOf({ DATABASE_URL: databaseUrl }))
    .filter((each) => each.check === check)
    .map(({ level, message }) => `${level} ${message}`);
}

it('finds the same faults when the network is slow', async () => {
  const { sql } = database;
  const other = postgres(env.DATABASE_URL, { max: 1 });
  await other`begin`;
  await other`select pg_current_xact_id()`;
  const user = await createUser(sql, env.DATABASE_URL, [
    'all on plants, plant_deletions, plant_feed, access_tokens, webhooks',
  ]);
  // With this fault, `doctor` sends every statement of its trial write, and reads the feed twice.
  await sql`alter table plants alter tag set not null`;
  const near = user.env.DATABASE_URL;
  const proxy = await startFaultProxy(near);
  proxy.delay = 75;
  onTestFinished(async () => {
    proxy.close();
    await other.end();
  });
  const of = (databaseUrl: string) => run(['doctor'], { env: { DATABASE_URL: databaseUrl } });
  const checks = ({ stdout }: { stdout: string }) =>
    stdout
      .split('\n')
      .filter((line) => !/configuration|clock|disk/.test(line))
      .map((line) => line.replace(/process \d+|\d+ ms/g, ''));
  const [far, direct] = [await of(proxy.url), await of(near)];
  expect(checks(far)).toEqual(checks(direct));
  expect(far.stdout).toMatch(/^warning +writes +for a plant without a tag/m);
  expect(far.stdout).toMatch(/^warning +feed +the feed of changes waits for the transaction/m);
});

const noFault = ['ok all tables have the columns that this version needs'];

describe('finds tables that differ from the tables of this version', () => {
  it.each(
    Object.entries({
      'drop table plants': 'the table plants is missing: restore it from a backup',
      'alter table plants rename tag to label':
        'the table plants has no column tag: rename it back, or restore the table from a backup',
      'alter table plants alter id type integer':
        'the column plants.id has the type integer and not bigint: ' +
        'run ALTER TABLE plants ALTER COLUMN id TYPE bigint USING id::bigint',
      'alter table plants drop constraint plants_pkey':
        'the column plants.id is not the primary key: run ALTER TABLE plants ADD PRIMARY KEY (id)',
      'alter table plants alter created_at drop default':
        'the column plants.created_at has no default: ' +
        'run ALTER TABLE plants ALTER COLUMN created_at SET DEFAULT now()',
      'alter table plants add height integer not null':
        'the column plants.height needs a value, and the store has none: ' +
        'run ALTER TABLE plants ALTER COLUMN height DROP NOT NULL',
      'alter table access_tokens drop scope':
        'the table access_tokens has no column scope: rename it back, or restore the table from a backup',
    }),
  )('%s', async (change, finding) => {
    await database.sql.unsafe(change);
    expect(await findings('tables')).toEqual([`problem ${finding}`]);
  });

  it.each(['plants', 'plant_deletions'])(
    'names the default of an earlier version in %s, and its remedy works',
    async (table) => {
      const { sql } = database;
      await sql.unsafe(`alter table ${table} alter changed_in set default pg_current_xact_id()`);
      const [finding = ''] = await findings('tables');
      expect(finding).toMatch(
        `problem the column ${table}.changed_in has the default of an earlier version, so the feed may ` +
          'show changes that a crash of the database undoes: run ALTER TABLE',
      );
      await sql.unsafe(finding.replace(/^.*: run /, ''));
      expect(await findings('tables')).toEqual(noFault);
    },
  );

  it('accepts a column that the operator has added', async () => {
    await database.sql`alter table plants add height integer not null default 1`;
    expect(await findings('tables')).toEqual(noFault);
  });

  it('accepts that the feed is switched off', async () => {
    expect((await run(['feed', 'off', '--yes'], { env })).code).toBe(0);
    expect(await findings('tables')).toEqual(noFault);
  });
});

it('tells the user of a command why the command cannot work', async () => {
  await database.sql`alter table plants rename tag to label`;
  const { code, stderr } = await run(['get', '1'], { env });
  expect(stderr).toContain('plant-store: the table plants has no column tag: rename it back');
  expect(code).toBe(1);
});

it('names the session that has locked a table, in doctor and in other commands', async () => {
  const other = await database.sql.reserve();
  await other`begin`;
  await other`lock table plants in access exclusive mode`;
  const [row] = await other`select pg_backend_pid() as pid`;
  const message =
    `the table plants is locked by another session (process ${row?.['pid']}, user postgres, ` +
    `postgres.js): wait until it ends, or end it with SELECT pg_terminate_backend(${row?.['pid']})`;
  expect(await findings('locks')).toEqual([`warning ${message}`]);
  const outputs = await Promise.all([
    run(['get', '1'], { env }),
    run(['list'], { env }),
    run(['delete', '1', '--yes'], { env }),
  ]);
  for (const { code, stderr } of outputs) {
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  }
  await other`rollback`;
  other.release();
});

it('says what to change in the URL when the database rejects the connection', async () => {
  const { DATABASE_URL: url } = env;
  expect(await findings('connection', `${url}?sslmode=require`)).toEqual([
    expect.stringMatching(/does not offer TLS\): remove sslmode from its URL/),
  ]);
  expect(await findings('connection', `${url}?schema=public`)).toEqual([
    expect.stringMatching(/parameter "schema"\): remove it from its URL/),
  ]);
  const ofNobody = Object.assign(new URL(url), { username: 'nobody_here' }).href;
  expect(await findings('connection', ofNobody)).toEqual([
    expect.stringMatching(/role "nobody_here" does not exist\): check the user in its URL/),
  ]);
});

it('names a host that does not respond, and waits only a short time', async () => {
  const silent = createServer((socket) => onTestFinished(() => void socket.destroy()));
  const { host } = new URL(await listen(silent));
  const message = /^(problem|warning) .*no response within \d+ ms\): check DATABASE_URL/;
  expect(await findings('connection', `postgres://${host}/plants`)).toEqual([
    expect.stringMatching(message),
  ]);
  const both = env.DATABASE_URL.replace('@', `@${host},`);
  expect(await findings('hosts', both)).toEqual([expect.stringContaining(`${host}: `)]);
  expect(await findings('connection', both)).toEqual([expect.stringMatching(/^ok Postgres/)]);
});

it('names the size of the database, and the command that shows the free disk space', async () => {
  expect(await findings('disk')).toEqual([
    expect.stringMatching(/^ok the database has \d+ MiB; run df on its machine/),
  ]);
});
