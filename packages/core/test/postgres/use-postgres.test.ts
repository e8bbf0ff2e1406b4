import { freePort } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { send } from '../../src/database/query.ts';
import { usePostgres } from '../../src/postgres/use-postgres.ts';
import { connectToNew } from '../fixtures/databases.ts';
import { startPooler } from '../fixtures/proxy.ts';

let databaseUrl: string;
let sql: postgres.Sql;

beforeEach(async () => {
  ({ databaseUrl, sql } = await connectToNew({ max: 1 }));
});

const withHosts = (...ports: (string | number)[]) => {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return databaseUrl.replace(/@[^/]*/, `@${hosts}`);
};

const otherSessions = () => sql`
  select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;

it('runs statements without a migration, and closes the connection', async () => {
  const rows = await usePostgres(databaseUrl, (connection) =>
    send(connection.query, 'select 1 as one'),
  );
  expect(rows).toEqual([{ one: 1 }]);
  expect(await sql`select from pg_tables where schemaname = 'public'`).toEqual([]);
  await vi.waitFor(async () => expect(await otherSessions()).toEqual([]));
});

it('throws the error of a statement, and closes the connection', async () => {
  await expect(
    usePostgres(databaseUrl, (connection) => send(connection.query, 'select x')),
  ).rejects.toMatchObject({
    kind: 'databaseUnavailable',
    cause: { code: '42703' },
  });
  await vi.waitFor(async () => expect(await otherSessions()).toEqual([]));
});

it('throws the error of the first host when no host can be reached', async () => {
  const [first, second] = [await freePort(), await freePort()];
  await expect(usePostgres(withHosts(first, second), async () => {})).rejects.toMatchObject({
    kind: 'databaseUnavailable',
    cause: { code: 'ECONNREFUSED', port: first },
  });
});

it('passes a warning to the caller when the pooler does not support prepared statements', async () => {
  const warningAt = (url: string) =>
    usePostgres(url, async (_connection, _hosts, warning) => warning);
  expect(await warningAt(databaseUrl)).toBeUndefined();
  expect(await warningAt(withHosts(await startPooler(databaseUrl)))).toBe(
    'the pooler in front of the database keeps no prepared statements. A PgBouncer older than 1.21 never ' +
      'does, and may lose its sessions after a pause (FATAL: bad client state): use 1.21 or newer. A newer ' +
      'one does with max_prepared_statements = 200, which saves CPU time of the database',
  );
});

it('throws an error when the statements take longer than twelve seconds', async () => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'performance'],
    shouldAdvanceTime: true, // Without running timers, the driver cannot close.
  });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(60_000);
  const started = Promise.withResolvers<void>();
  const use = usePostgres(databaseUrl, async (connection) => {
    started.resolve();
    await connection.query('select pg_sleep(60)');
  });
  const failed = expect(use).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/^no response within \d+ ms$/) },
  });
  await started.promise;
  await vi.advanceTimersByTimeAsync(12_000);
  await failed;
});
