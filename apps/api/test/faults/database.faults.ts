import { setTimeout } from 'node:timers/promises';
import {
  type AcknowledgedLoad,
  type Fault,
  type FaultProxy,
  hasPosixSignals,
  startFaultProxy,
  startOnPostgres,
  type TestPostgres,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type PlantsDatabase, startPlantsDatabase } from './plants-database.ts';
import { slowest, startStoreUnderLoad } from './store-under-load.ts';

interface System extends PlantsDatabase {
  /** Between the store and its database. */
  proxy: FaultProxy;
  load: AcknowledgedLoad;
}

/** Causes a fault of the database under load. Resolves when the database works again. */
type CauseFault = (system: System) => Promise<void>;

const terminate = (admin: postgres.Sql) => admin`
  select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'plant-store'`;

const set = async (admin: postgres.Sql, setting: string) => {
  await admin.unsafe(`alter system ${setting}`);
  await admin`select pg_reload_conf()`;
};

const terminated: CauseFault = async ({ admin }) => {
  for (let i = 0; i < 30; i++) {
    await terminate(admin);
    await setTimeout(100);
  }
};

const restarted: CauseFault = async ({ server }) => {
  await server.halt();
  await server.start();
};

const down: CauseFault = async ({ server }) => {
  await server.halt();
  await setTimeout(6_000);
  await server.start();
};

const paused: CauseFault = async ({ server, admin }) => {
  const postmaster = server.process.pid ?? Number.NaN;
  process.kill(postmaster, 'SIGSTOP'); // First, so that it starts no further backends.
  const backends = await admin<{ pid: number }[]>`select pid from pg_stat_activity`;
  const pids = [postmaster, ...backends.map(({ pid }) => pid)];
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await setTimeout(10_000);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
};

const locked: CauseFault = async ({ admin }) => {
  await admin.begin(async (transaction) => {
    await transaction`lock table plants in access exclusive mode`;
    await setTimeout(12_000);
  });
};

/** Somebody has inserted the next plants in a transaction that stays open. */
const rowsLocked: CauseFault = async ({ admin, load }) => {
  const lastId = Math.max(...load.seen.acknowledged.map(({ id }) => id));
  await admin
    .begin(async (transaction) => {
      const ids = transaction`generate_series(${lastId + 20}::int, ${lastId + 30}) as id`;
      await transaction`insert into plants (id, name) select id, 'theirs' from ${ids}`;
      await setTimeout(7_000);
      throw new Error('rolled back');
    })
    .catch(() => {});
};

const fewSlots: CauseFault = async ({ admin, load }) => {
  await admin`alter role gardener connection limit 2`;
  await terminate(admin);
  await load.acknowledged(500);
  await admin`alter role gardener connection limit -1`;
};

const recreated: CauseFault = async ({ admin }) => {
  await admin`drop schema drizzle cascade`;
  await admin`alter table plants rename to kept`;
  await admin`drop table access_tokens`;
  await setTimeout(3_000);
  // The plants are restored into the tables that the store has made meanwhile.
  await admin`insert into plants select * from kept`;
};

const withoutSlots: CauseFault = async ({ admin }) => {
  await admin`alter role gardener connection limit 0`;
  await terminate(admin);
  await setTimeout(3_000);
  await admin`alter role gardener connection limit -1`;
};

const full: CauseFault = async ({ admin }) => {
  const fill = admin`insert into plants select -generate_series(1, 1000000), repeat('x', 300)`;
  await expect(fill).rejects.toThrow('could not extend file');
  await setTimeout(3_000);
  await admin`vacuum plants`;
};

const readOnly: CauseFault = async ({ admin, proxy, load }) => {
  await set(admin, 'set default_transaction_read_only = on');
  await setTimeout(1_000);
  const { accepted } = proxy;
  await setTimeout(4_000);
  const attempts = proxy.accepted - accepted;
  expect(attempts).toBeGreaterThan(0);
  expect(attempts).toBeLessThan(10);
  expect(load.seen.answers['503 50300']).toBeGreaterThan(10);
  await set(admin, 'reset default_transaction_read_only');
};

const unreplicated: CauseFault = async ({ admin, load }) => {
  await set(admin, "set synchronous_standby_names = 'nobody'");
  await setTimeout(500);
  const before = load.seen.acknowledged.length;
  for (let i = 0; i < 30; i++) {
    await admin`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
    await setTimeout(100);
  }
  expect(load.seen.acknowledged.length).toBe(before);
  await set(admin, 'reset synchronous_standby_names');
};

const unanswered: CauseFault = async ({ proxy }) => {
  for (let i = 0; i < 10; i++) await proxy.loseAnswer('INSERT 0 ');
};

const onTheNetwork =
  (fault: Fault): CauseFault =>
  async ({ proxy }) => {
    proxy.fault = fault;
    await setTimeout(7_000);
    proxy.fault = 'none';
  };

const faults: [string, CauseFault][] = [
  ['its connections are terminated again and again', terminated],
  ['it restarts without notice', restarted],
  ['it is down for longer than the deadline', down],
  ['it is paused for ten seconds', paused],
  ['the table is locked for longer than the deadline', locked],
  ['rows are locked by a transaction that stays open', rowsLocked],
  ['it accepts no more connections', withoutSlots],
  ['it accepts only two connections', fewSlots],
  ['its tables are gone, and later restored', recreated],
  ['its disk is full', full],
  ['it is read-only', readOnly],
  ['commits no longer wait for the standby', unreplicated],
  ['its answers are lost after the commit', unanswered],
  ['the network refuses connections', onTheNetwork('refuse')],
  ['the network resets connections', onTheNetwork('reset')],
  ['the network closes one side of connections', onTheNetwork('halfClose')],
  ['the network drops all packets', onTheNetwork('blackhole')],
  ['the network is very slow', onTheNetwork('trickle')],
];

/**
 * Milliseconds until plants are created again: the promise, and an allowance for a busy machine.
 */
const recoveryTime = 2_000 + 1_000;

// Windows has no signals: a process cannot be paused, or exit with code 0 on SIGTERM, there.
const test = it.runIf(hasPosixSignals);

describe.concurrent('no acknowledged plant is lost, and creates soon succeed again, when', () => {
  test.for(faults)('%s', async ([, causeFault], { onTestFinished, task }) => {
    const database = await startPlantsDatabase({ maxFileSize: 4 * 1024 });
    onTestFinished(database.stop);
    const proxy = await startFaultProxy(database.url);
    onTestFinished(proxy.close);
    const store = await startStoreUnderLoad(proxy.url);
    onTestFinished(store.kill);
    await causeFault({ ...database, proxy, load: store.load });
    const after = await store.load.acknowledged(100);
    await store.finish(database.url, task);
    expect(after).toBeLessThan(recoveryTime);
  });
});

it('a request has one deadline, even if its token and its plant both wait for the database', async () => {
  const database = await startPlantsDatabase();
  onTestFinished(database.stop);
  const server = await startOnPostgres(database.url);
  onTestFinished(server.stop);
  const { admin } = database;
  await admin`insert into access_tokens values (sha256('known'), 'Ann')`;
  await admin`begin`;
  await admin`lock table plants in access exclusive mode`;
  await admin`savepoint tokens`;
  await admin`lock table access_tokens in access exclusive mode`;

  const sentAt = Date.now();
  const reply = fetch(`${server.env.PLANT_STORE_URL}/plants`, {
    method: 'POST',
    headers: { authorization: 'Bearer known', 'content-type': 'application/json' },
    body: '{"id":1,"name":"x"}',
  });
  await setTimeout(3_000);
  await admin`rollback to tokens`;
  expect(await (await reply).json()).toMatchObject({
    error: 50300,
    message: expect.stringContaining('may not be stored'),
  });
  expect(Date.now() - sentAt).toBeLessThan(slowest);
  await admin`rollback`;
});

test('a promoted standby replaces a primary that is down', async ({ task }) => {
  const primary = await startPlantsDatabase();
  onTestFinished(primary.stop);
  const standby = await primary.server.startStandby();
  onTestFinished(standby.stop);
  const admin = postgres(primary.server.url, { max: 1 });
  await set(admin, "set synchronous_standby_names = '*'");
  await admin.end();
  const { username, pathname } = new URL(primary.url);
  const [first, second] = [standby, primary.server].map(({ url }) => new URL(url).host);
  const store = await startStoreUnderLoad(`postgres://${username}@${first},${second}${pathname}`);
  onTestFinished(store.kill);

  await primary.server.halt();
  await promote(standby);
  const after = await store.load.acknowledged(100);
  await store.finish(Object.assign(new URL(standby.url), { pathname }).href, task);
  expect(after).toBeLessThan(recoveryTime);
});

test('a primary that returns as a standby is not used until it is the primary again', async ({
  task,
}) => {
  const first = await startPlantsDatabase();
  onTestFinished(first.stop);
  const second = await first.server.startStandby();
  onTestFinished(second.stop);
  const { username, pathname } = new URL(first.url);
  const hosts = [first.server, second].map(({ url }) => new URL(url).host).join();
  const store = await startStoreUnderLoad(`postgres://${username}@${hosts}${pathname}`);
  onTestFinished(store.kill);

  // An orderly stop sends the whole log to the standby.
  await first.server.halt('SIGINT');
  await promote(second);
  await first.server.startAsStandbyOf(second.url);
  await store.load.acknowledged(200);
  await second.halt('SIGINT');
  await promote(first.server);
  const after = await store.load.acknowledged(100);
  await store.finish(first.url, task);
  expect(after).toBeLessThan(recoveryTime);
});

async function promote({ url }: TestPostgres): Promise<void> {
  const sql = postgres(url, { max: 1 });
  await sql`select pg_promote()`;
  await sql.end();
}
