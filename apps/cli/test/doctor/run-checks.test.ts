import {
  createDatabase,
  hasPgBouncer,
  keepsPreparedStatements,
  startPgBouncer,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it, vi } from 'vitest';
import { runChecks } from '../../src/doctor/run-checks.ts';
import { migratedDatabase } from '../fixtures/migrated-database.ts';
import { run } from '../fixtures/run-program.ts';

async function findingsOf(url: string) {
  vi.stubEnv('DATABASE_URL', url);
  const findings = await runChecks();
  vi.unstubAllEnvs();
  return findings;
}

/** Returns the findings that are not ok as texts. */
async function warningsOf(url: string) {
  const findings = await findingsOf(url);
  return findings
    .filter(({ level }) => level !== 'ok')
    .map(({ check, message }) => `${check}: ${message}`);
}

it("finds the database's settings that may lose plants", async () => {
  const url = await createDatabase(inject('postgresUrl'));
  const sql = await migratedDatabase({ DATABASE_URL: url });
  const [, database] = /([^/]+)$/.exec(url) ?? [];
  await sql.unsafe(`alter database ${database} set synchronous_commit = off`);
  await sql.end();
  expect(await warningsOf(url)).toEqual([
    // The tests' Postgres runs without fsync.
    'durability: fsync is off, so a crash of the machine may destroy the database: set it to on',
    'durability: synchronous_commit is off, so a crash may lose the newest plants: set it to on',
  ]);
  const { code, stdout } = await run(['doctor'], { env: { DATABASE_URL: url } });
  expect(stdout).toMatch(/^ok +connection +Postgres \d/m);
  expect(stdout).toMatch(/^problem +durability +fsync is off/m);
  expect(code).toBe(1);
});

it('finds that a database is read-only and not migrated, and does not change it', async () => {
  const url = await createDatabase(inject('postgresUrl'));
  expect(await warningsOf(`${url}?default_transaction_read_only=on`)).toEqual([
    expect.stringMatching(/^connection: Postgres [\d.]+, UTF8, is read-only: get, list, count and/),
    expect.stringMatching(/^migrations: \d are missing: start the server, which applies them$/),
    'tables: there are no tables yet: start the server, which applies the migrations',
    expect.stringMatching(/^durability: fsync is off/),
  ]);
  const sql = postgres(url);
  expect(await sql`select from pg_tables where schemaname = 'public'`).toHaveLength(0);
  await sql.end();
});

it('names the database without the user, the password and the parameters', async () => {
  const url = 'postgres://someone:hi@dden@127.0.0.1:1/plants?application_name=x';
  expect(await findingsOf(url)).toEqual([
    { check: 'configuration', level: 'ok', message: 'the Postgres at 127.0.0.1:1/plants' },
    {
      check: 'connection',
      level: 'problem',
      message: expect.stringMatching(/ECONNREFUSED 127\.0\.0\.1:1\): check the host and the port/),
    },
  ]);
});

it('finds an invalid setting, and does not show its value', async () => {
  const warnings = await warningsOf('mysql://u:hidden@h/d');
  expect(warnings).toEqual([
    expect.stringMatching(
      /^configuration: DATABASE_URL is invalid, because it does not start with postgres:/,
    ),
  ]);
  expect(warnings.join()).not.toContain('hidden');
});

it.runIf(hasPgBouncer)('finds a pooler that keeps no prepared statements', async () => {
  const url = await createDatabase(inject('postgresUrl'));
  await (await migratedDatabase({ DATABASE_URL: url })).end();
  const pooler = await startPgBouncer(url);
  const warnings = await warningsOf(pooler.url);
  const ofPooler = warnings.filter((warning) => warning.includes('use 1.21 or newer'));
  expect(ofPooler).toHaveLength(keepsPreparedStatements ? 0 : 1);
  expect(await warningsOf(url)).toEqual(warnings.filter((warning) => !ofPooler.includes(warning)));
  await pooler.stop();
});
