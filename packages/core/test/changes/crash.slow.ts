import { startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { idsOf } from '../fixtures/changes.ts';

const name = 'Monstera';

let server: TestPostgres;
let store: PlantStore;
let admin: postgres.Sql;
/** A client of the database that does not wait until its commits are durable. */
let hasty: postgres.Sql;

const connect = (connection = {}) =>
  postgres(server.url, { max: 1, fetch_types: false, connection, onnotice: () => {} });

beforeAll(async () => {
  server = await startPostgres({ fsync: 'off' });
  store = await openPlantStore({ databaseUrl: server.url }, { requireConnection: true });
  admin = connect();
  hasty = connect({ synchronous_commit: 'off' });
});

afterAll(async () => {
  await Promise.all([hasty, admin].map((sql) => sql.end({ timeout: 1 })));
  await store.close();
  await server.stop();
});

beforeEach(async () => void (await admin`delete from plants`));

const insert = (id: number) => hasty`insert into plants (id, name) values (${id}, ${name})`;

const storedIds = async () =>
  (await admin`select id from plants order by id`).map(({ id }) => BigInt(id));

async function walWriter(): Promise<number | undefined> {
  const [writer] = await admin<{ pid: number }[]>`
    select pid from pg_stat_activity where backend_type = 'walwriter'`;
  return writer?.pid;
}

/**
 * Freezes the process that writes the commits of `hasty` to the log. Returns a function that crashes the
 * server.
 */
async function freezeWalWriter(): Promise<() => Promise<void>> {
  const pid = (await walWriter()) ?? expect.unreachable('there is no such process');
  process.kill(pid, 'SIGSTOP');
  return async () => {
    // After a kill of the WAL writer, Postgres ends all its other processes and recovers.
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect([undefined, pid]).not.toContain(await walWriter()));
    await vi.waitFor(() => hasty`select 1`);
    await vi.waitFor(() => store.create({ id: 1n, name }));
  };
}

it('keeps every plant that a list or a page of changes showed before a crash', async () => {
  const { next: start } = await store.changes({});
  const crash = await freezeWalWriter();
  await insert(701);
  const { plants } = await store.list({ limit: 10 });
  const page = await store.changes({ after: start });
  expect([plants[0]?.id, ...idsOf(page)]).toEqual([701n, 701n]);
  await crash();
  expect(await storedIds()).toEqual([1n, 701n]);
  expect(idsOf(await store.changes({ after: page.next }))).toEqual([1n]);
});

it('keeps a plant deleted after a crash when a page of changes has shown the delete', async () => {
  await admin`insert into plants (id, name) values (702, ${name})`;
  const { next: after } = await store.changes({});
  const crash = await freezeWalWriter();
  await hasty`
    with deleted as (delete from plants where id = 702 returning *)
    insert into plant_deletions (id, name, tag, created_at, created_in)
    select id, name, tag, created_at, changed_in from deleted`;
  const { changes } = await store.changes({ after });
  expect(changes).toMatchObject([{ type: 'deleted', plant: { id: 702n } }]);
  await crash();
  expect(await storedIds()).toEqual([1n]);
});
