import { hasPgBouncer, keepsPreparedStatements, startPgBouncer } from '@plant-store/test-setup';
import { expect, it, onTestFinished } from 'vitest';
import { migratedDatabase, useDatabase } from '../fixtures/database.ts';
import { findingsOf, hazardsOf } from '../fixtures/findings.ts';
import { run } from '../fixtures/run-program.ts';

const database = useDatabase();
const { env } = database;

it('finds settings with which a database may lose plants', async () => {
  const sql = await migratedDatabase(env);
  await sql`alter database ${sql(sql.options.database)} set synchronous_commit = off`;
  await sql.end();
  const { code, stdout } = await run(['doctor'], { env });
  expect(stdout).toMatch(/^ok +connection +Postgres \d/m);
  // `doctor` also warns of `fsync`, because the Postgres of the tests runs without fsync.
  expect(stdout.match(/^(warning|problem) .*/gm)).toEqual([
    expect.stringMatching(
      /^problem +durability +fsync is off, so a crash of the machine may destroy the database: set it to on$/,
    ),
    expect.stringMatching(
      /durability +synchronous_commit is off, so a crash may lose the newest plants: set it to on$/,
    ),
  ]);
  expect(code).toBe(1);
});

it('finds that a database is read-only and not migrated, and does not change the database', async () => {
  const url = `${env.DATABASE_URL}?default_transaction_read_only=on`;
  expect(await hazardsOf({ DATABASE_URL: url })).toEqual([
    expect.stringMatching(/ connection: Postgres [\d.]+, UTF8, is read-only: get, list, count and/),
    expect.stringMatching(/ migrations: \d are missing: start the server, which applies them$/),
    expect.stringContaining(
      ' tables: there are no tables yet: start the server, which applies the migrations',
    ),
  ]);
  expect(await database.sql`select from pg_tables where schemaname = 'public'`).toHaveLength(0);
});

it('names the database without the user, the password and the parameters', async () => {
  const url = 'postgres://someone:hi@dden@127.0.0.1:1/plants?application_name=x';
  expect(await findingsOf({ DATABASE_URL: url })).toEqual([
    { check: 'configuration', level: 'ok', message: 'the Postgres at 127.0.0.1:1/plants' },
    {
      check: 'connection',
      level: 'problem',
      message: expect.stringMatching(/ECONNREFUSED 127\.0\.0\.1:1\): check the host and the port/),
    },
  ]);
});

it('finds an invalid setting, and does not show its value', async () => {
  const hazards = await hazardsOf({ DATABASE_URL: 'mysql://u:hidden@h/d' });
  expect(hazards).toEqual([
    expect.stringContaining(
      ' configuration: DATABASE_URL is invalid, because it does not start with postgres:',
    ),
  ]);
  expect(hazards.join()).not.toContain('hidden');
});

it.runIf(hasPgBouncer)(
  'warns of a connection pooler that keeps no prepared statements',
  async () => {
    await (await migratedDatabase(env)).end();
    const pooler = await startPgBouncer(env.DATABASE_URL);
    onTestFinished(() => pooler.stop());
    const hazards = await hazardsOf({ DATABASE_URL: pooler.url });
    const ofPooler = hazards.filter((hazard) => hazard.includes('use 1.21 or newer'));
    expect(ofPooler).toHaveLength(keepsPreparedStatements ? 0 : 1);
    expect(await hazardsOf(env)).toEqual(hazards.filter((hazard) => !ofPooler.includes(hazard)));
  },
);
