import { startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createPlantFeed } from '../../src/changes/plant-feed.ts';
import type { Run } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open-database.ts';
import { openPlantReader } from '../../src/open-plant-reader.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { idsOf } from '../fixtures/changes.ts';

const name = 'Monstera';
const timeout = 60_000;

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

/** Freezes the process that writes the log of hasty commits. Returns a function that crashes the server. */
async function freezeWalWriter(): Promise<() => Promise<void>> {
  const pid = (await walWriter()) ?? expect.unreachable('there is no such process');
  process.kill(pid, 'SIGSTOP');
  return async () => {
    process.kill(pid, 'SIGKILL'); // The server then ends all its processes and recovers.
    await vi.waitFor(async () => expect([undefined, pid]).not.toContain(await walWriter()), {
      timeout,
    });
    await vi.waitFor(() => hasty`select 1`, { timeout });
    await vi.waitFor(() => store.create({ id: 1n, name }), { timeout });
  };
}

it('has no change that a crash undoes, and each change after the crash', async () => {
  const { next: start } = await store.changes({});
  const crash = await freezeWalWriter();
  await insert(701);
  const page = await store.changes({ after: start });
  expect(idsOf(page)).toEqual([701n]);
  await crash();
  const later = await store.changes({ after: page.next });
  expect([...idsOf(later), ...idsOf(page)]).toEqual(await storedIds());
});

it('begins behind no change that a crash undoes', async () => {
  const crash = await freezeWalWriter();
  await insert(702);
  const { next } = await store.changes({});
  await crash();
  expect(await storedIds()).toEqual([1n, 702n]);
  expect(idsOf(await store.changes({ after: next }))).toEqual([1n]);
});

it('reads a page again when the server crashes before the page is on the disk', async () => {
  const database = await openDatabase({ databaseUrl: server.url }, { requireConnection: true });
  onTestFinished(() => database.close());
  const crash = await freezeWalWriter();
  let isCrashed = false;
  const run: Run = async (text, ...rest) => {
    if (text.includes('pg_logical_emit_message') && !isCrashed) {
      isCrashed = true;
      await crash();
      await admin`insert into plants (id, name) select generate_series(1000, 2000), 'x'`; // The log has grown.
    }
    return database.run(text, ...rest);
  };
  const { next: after } = await store.changes({});
  await insert(703);
  const { changes } = await createPlantFeed({ run }).changes({ after });
  expect(changes).toHaveLength(1_000);
  expect(changes[0]).toMatchObject({ plant: { id: 1n } });
  expect(isCrashed).toBe(true);
});

it('needs no privilege, and no session that may write', async () => {
  await admin`create role reader login`;
  await admin`alter role reader set default_transaction_read_only = on`;
  await admin`grant select on plants, plant_deletions, plant_feed to reader`;
  const url = Object.assign(new URL(server.url), { username: 'reader' }).href;
  const reader = await openPlantReader({ databaseUrl: url });
  onTestFinished(() => reader.close());
  const { next: after } = await reader.changes({});
  const crash = await freezeWalWriter();
  await insert(704);
  expect(idsOf(await reader.changes({ after }))).toEqual([704n]);
  await crash();
  expect(await storedIds()).toEqual([1n, 704n]);
});

it('waits for nobody when the log ends where a file begins', async () => {
  const { next: after } = await store.changes({});
  await store.create({ id: 2n, name });
  await admin`select pg_switch_wal()`;
  expect(idsOf(await store.changes({ after }))).toEqual([2n]);
});
