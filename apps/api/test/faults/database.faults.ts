import { setTimeout } from 'node:timers/promises';
import {
  type AcknowledgedLoad,
  type Fault,
  type FaultProxy,
  startFaultProxy,
  startOnPostgres,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type PlantsDatabase, startPlantsDatabase } from './plants-database.ts';
import { slowest, startStoreUnderLoad } from './store-under-load.ts';

interface Parts extends PlantsDatabase {
  /** Between the store and its database. */
  proxy: FaultProxy;
  load: AcknowledgedLoad;
}

/** Something that befalls the database under load; resolves once the database is back. */
type Inflict = (parts: Parts) => Promise<void>;

const terminate = (admin: postgres.Sql) => admin`
  select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'plant-store'`;

const set = async (admin: postgres.Sql, setting: string) => {
  await admin.unsafe(`alter system ${setting}`);
  await admin`select pg_reload_conf()`;
};

const terminated: Inflict = async ({ admin }) => {
  for (let i = 0; i < 30; i++) {
    await terminate(admin);
    await setTimeout(100);
  }
};

const restarted: Inflict = async ({ server }) => {
  await server.halt();
  await server.start();
};

const gone: Inflict = async ({ server }) => {
  await server.halt();
  await setTimeout(6_000);
  await server.start();
};

const stopped: Inflict = async ({ server, admin }) => {
  const postmaster = server.process.pid ?? Number.NaN;
  process.kill(postmaster, 'SIGSTOP'); // First, so that it starts no more of the others.
  const backends = await admin<{ pid: number }[]>`select pid from pg_stat_activity`;
  const pids = [postmaster, ...backends.map(({ pid }) => pid)];
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await setTimeout(10_000);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
};

const locked: Inflict = async ({ admin }) => {
  await admin.begin(async (transaction) => {
    await transaction`lock table plants in access exclusive mode`;
    await setTimeout(12_000);
  });
};

const withoutSlots: Inflict = async ({ admin }) => {
  await admin`alter role gardener connection limit 0`;
  await terminate(admin);
  await setTimeout(3_000);
  await admin`alter role gardener connection limit -1`;
};

const full: Inflict = async ({ admin }) => {
  const fill = admin`insert into plants select -generate_series(1, 1000000), repeat('x', 300)`;
  await expect(fill).rejects.toThrow('could not extend file');
  await setTimeout(3_000);
  await admin`vacuum plants`;
};

const readOnly: Inflict = async ({ admin, proxy, load }) => {
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

const unreplicated: Inflict = async ({ admin, load }) => {
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

const unanswered: Inflict = async ({ proxy }) => {
  for (let i = 0; i < 10; i++) await proxy.loseAnswer('INSERT 0 ');
};

const onTheWay =
  (fault: Fault): Inflict =>
  async ({ proxy }) => {
    proxy.fault = fault;
    await setTimeout(7_000);
    proxy.fault = 'none';
  };

const faults: [string, Inflict][] = [
  ['its connections are terminated again and again', terminated],
  ['it is restarted without warning', restarted],
  ['it is gone for longer than the deadline', gone],
  ['it is stopped for ten seconds', stopped],
  ['the table is locked for longer than the deadline', locked],
  ['it has no connections left', withoutSlots],
  ['its disk is full', full],
  ['it is read-only', readOnly],
  ['commits no longer wait for the standby', unreplicated],
  ['answers are lost after the commit', unanswered],
  ['connections are refused', onTheWay('refuse')],
  ['connections are reset', onTheWay('reset')],
  ['connections are half closed', onTheWay('halfClose')],
  ['everything disappears on the way', onTheWay('blackhole')],
  ['answers trickle', onTheWay('trickle')],
];

/** Milliseconds until plants are added again once the database is back, and what a busy machine adds. */
const back = 2_000 + 1_000;

describe.concurrent('nothing acknowledged is lost, and plants are added again at once, when', () => {
  it.for(faults)('%s', async ([, inflict], { onTestFinished }) => {
    const database = await startPlantsDatabase({ maxFileSize: 4 * 1024 });
    onTestFinished(database.stop);
    const proxy = await startFaultProxy(database.url);
    onTestFinished(proxy.close);
    const store = await startStoreUnderLoad(proxy.url);
    onTestFinished(store.kill);
    await inflict({ ...database, proxy, load: store.load });
    const after = await store.load.acknowledged(100);
    await store.finish(database.url);
    expect(after).toBeLessThan(back);
  });
});

it('a request has one deadline, though its token and its plant both wait for the database', async () => {
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

it('a standby that is promoted takes the place of a primary that has died', async () => {
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
  const promoter = postgres(standby.url, { max: 1 });
  await promoter`select pg_promote()`;
  await promoter.end();
  const after = await store.load.acknowledged(100);
  await store.finish(Object.assign(new URL(standby.url), { pathname }).href);
  expect(after).toBeLessThan(back);
});
