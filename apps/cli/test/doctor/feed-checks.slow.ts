import { type DatabaseState, inspectDatabase } from '@plant-store/core/operator';
import { startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { feedChecks } from '../../src/doctor/feed-checks.ts';
import { createUser, migratedDatabase } from '../fixtures/database.ts';
import { run } from '../fixtures/run-program.ts';

// A transaction in any database of a server delays the feed, so these tests have their own server.
let server: TestPostgres;
let sql: postgres.Sql;
let other: postgres.Sql;

beforeAll(async () => {
  server = await startPostgres({ fsync: 'off', max_prepared_transactions: '2' });
  sql = await migratedDatabase({ DATABASE_URL: server.url });
});
afterAll(async () => {
  await sql.end();
  await server.stop();
});

beforeEach(() => {
  other = postgres(server.url, { max: 1 });
});
// Postgres rolls back the open transaction when the session ends.
afterEach(() => other.end());

async function inspect(databaseUrl = server.url): Promise<DatabaseState> {
  const state = await inspectDatabase({ databaseUrl, trial: true });
  if (!state) throw new Error('the server has a database');
  return state;
}

/** Returns the finding of `doctor` for an oldest transaction of this age. */
function findingAt(age: number, state: DatabaseState): string {
  const oldest = state.feed?.oldest;
  if (!state.feed || !oldest) throw new Error('no transaction holds the feed back');
  expect(oldest.age).toBeGreaterThanOrEqual(0);
  const [finding] = feedChecks({ ...state, feed: { ...state.feed, oldest: { ...oldest, age } } });
  return `${finding?.level} ${finding?.message}`;
}

const doctor = async () =>
  (await run(['doctor'], { env: { DATABASE_URL: server.url } })).stdout
    .split('\n')
    .filter((line) => line.includes(' feed '));

it('names the session whose transaction delays the feed', async () => {
  await other`begin`;
  await other`set local application_name = 'a report'`;
  const [row] = await other`select pg_backend_pid() as pid, pg_current_xact_id()`;
  const state = await inspect();
  expect(findingAt(9, state)).toBe('ok the feed of changes is on');
  const pid = row?.['pid'];
  const since = state.feed?.oldest?.since;
  expect(Math.abs(Date.parse(String(since)) - Date.now())).toBeLessThan(60_000);
  expect(findingAt(84, state)).toBe(
    'warning the feed of changes may lack the changes of the last 84 s, because it waits for the transaction of ' +
      `process ${pid} (database postgres, user postgres, a report, idle in transaction) since ${since}: ` +
      `end it with SELECT pg_terminate_backend(${pid})`,
  );
});

it('names a prepared transaction that delays the feed', async () => {
  await other`begin`;
  await other`select pg_current_xact_id()`;
  await other`prepare transaction 'from ''afar'''`;
  expect(findingAt(84, await inspect())).toMatch(
    /because it waits for the prepared transaction 'from ''afar''' \(database postgres, user postgres\) since \S+: run COMMIT PREPARED or ROLLBACK PREPARED 'from ''afar''' in the database postgres$/,
  );
  await other`rollback prepared 'from ''afar'''`;
});

// A user without privileges cannot see the start times of the transactions of other users.
const inspectAsUser = async () => inspect((await createUser(sql, server.url)).env.DATABASE_URL);

it('does not warn of short transactions with hidden start times', async () => {
  const another = postgres(server.url, { max: 1 });
  let isOver = false;
  // At all times, at least one of the two sessions has an open transaction.
  const overlap = async (first: postgres.Sql, second: postgres.Sql): Promise<void> => {
    await second`begin`;
    await second`select pg_current_xact_id()`;
    await first`commit`;
    return isOver ? undefined : overlap(second, first);
  };
  await another`begin`;
  const overlapping = overlap(another, other);
  const [finding] = feedChecks(await inspectAsUser());
  isOver = true;
  await overlapping;
  await another.end();
  expect(finding).toMatchObject({ level: 'ok' });
});

it('warns of a long transaction with a hidden start time', async () => {
  await other`begin`;
  const [row] = await other`select pg_backend_pid() as pid, pg_current_xact_id()`;
  expect(feedChecks(await inspectAsUser())).toEqual([
    {
      check: 'feed',
      level: 'warning',
      message: expect.stringContaining(
        `waits for the transaction of process ${row?.['pid']} (database postgres, user postgres`,
      ),
    },
  ]);
});

it('says what to do when the feed is off or its index is missing', async () => {
  await sql`drop index plants_changed_in`;
  expect(await doctor()).toEqual([expect.stringMatching(/^warning .*run plant-store feed on$/)]);
  const env = { DATABASE_URL: server.url };
  await run(['feed', 'off', '--yes'], { env });
  expect(await doctor()).toEqual([
    expect.stringMatching(/^ok .* is off: plant-store feed on switches it on$/),
  ]);
  await run(['feed', 'on'], { env });
  expect(await doctor()).toEqual([expect.stringMatching(/^ok +feed +the feed of changes is on$/)]);
  expect((await inspect()).feed?.oldest).toBeUndefined();
});

it.each(['system_identifier = 1', "timeline = '0000000A'"])(
  'warns when the feed belongs to another database: %s',
  async (setting) => {
    await sql.unsafe(`update plant_feed set ${setting}`);
    expect(await doctor()).toEqual([
      expect.stringMatching(
        /^warning .* begins it anew within 30 s; .*run plant-store feed on as the owner/,
      ),
    ]);
    await run(['feed', 'on'], { env: { DATABASE_URL: server.url } });
    expect(await doctor()).toEqual([expect.stringMatching(/^ok .* is on$/)]);
  },
);

it('does not wait for a lock on the table of the feed', async () => {
  await other`begin`;
  await other`lock table plant_feed in access exclusive mode`;
  expect((await inspect()).feed).toMatchObject({ isOn: true });
});
