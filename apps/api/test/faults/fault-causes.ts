import { setTimeout } from 'node:timers/promises';
import type { AcknowledgedLoad, Fault, FaultProxy } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { expect, vi } from 'vitest';
import { type PlantsDatabase, setSetting } from './plants-database.ts';

interface System extends PlantsDatabase {
  /** The proxy between the store and its database. */
  proxy: FaultProxy;
  load: AcknowledgedLoad;
}

/** Causes a fault while clients create plants. Resolves when the database works again. */
type CauseFault = (system: System) => Promise<void>;

const terminate = (admin: postgres.Sql) => admin`
  select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'plant-store process%'`;

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

const paused: CauseFault = async ({ server }) => {
  const thaw = await server.freeze();
  await setTimeout(10_000);
  thaw();
};

const locked: CauseFault = async ({ admin }) => {
  await admin.begin(async (transaction) => {
    await transaction`lock table plants in access exclusive mode`;
    await setTimeout(7_000);
  });
};

/** Another session inserts plants with the next ids. The transaction stays open for seven seconds. */
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
  await admin`drop table access_tokens, plant_deletions, plant_feed, webhooks`;
  await vi.waitFor(() => admin`select from plants`, { timeout: 60_000, interval: 100 });
  // The store has created a new, empty table `plants`. The old plants are in the table `kept`.
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

const readOnly: CauseFault = async (system) => {
  const { proxy, load } = system;
  const errors = () => load.seen.outcomes['503 50300'] ?? 0;
  await setSetting(system, 'set default_transaction_read_only = on');
  await vi.waitFor(() => expect(errors()).toBeGreaterThan(0));
  const { accepted } = proxy;
  const startedAt = performance.now();
  await vi.waitFor(() => expect(errors()).toBeGreaterThan(20));
  await vi.waitFor(() => expect(proxy.accepted).toBeGreaterThan(accepted));
  const seconds = (performance.now() - startedAt) / 1000;
  expect(proxy.accepted - accepted).toBeLessThan(10 + 2 * seconds);
  await setSetting(system, 'reset default_transaction_read_only');
};

const unreplicated: CauseFault = async (system) => {
  const { admin, load } = system;
  await setSetting(system, "set synchronous_standby_names = 'nobody'");
  const cancelled: string[] = [];
  while (cancelled.length < 20) {
    const sessions = await admin<{ start: string }[]>`
      select xact_start::text as start, pg_cancel_backend(pid) from pg_stat_activity
      where wait_event = 'SyncRep'`;
    cancelled.push(...sessions.map(({ start }) => start));
  }
  const plants = await admin<{ id: number }[]>`
    select id::int from plants
    where created_at = any (string_to_array(${cancelled.join()}, ',')::timestamptz[])`;
  expect(plants).not.toEqual([]);
  const acknowledged = new Set(load.seen.acknowledged.map(({ id }) => id));
  expect(plants.filter(({ id }) => acknowledged.has(id))).toEqual([]);
  await setSetting(system, 'reset synchronous_standby_names');
};

const lostResponses: CauseFault = async ({ proxy }) => {
  for (let i = 0; i < 10; i++) await proxy.loseResponse('INSERT 0 ');
};

const onTheNetwork =
  (fault: Fault): CauseFault =>
  async ({ proxy }) => {
    proxy.fault = fault;
    await setTimeout(7_000);
    proxy.fault = 'none';
  };

/** The faults of a database, and the function that causes each fault. */
export const databaseFaults: [string, CauseFault][] = [
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
  ['its responses are lost after the commit', lostResponses],
  ['the network refuses connections', onTheNetwork('refuse')],
  ['the network resets connections', onTheNetwork('reset')],
  ['the network closes one side of connections', onTheNetwork('halfClose')],
  ['the network drops all packets', onTheNetwork('blackhole')],
  ['the network is very slow', onTheNetwork('trickle')],
];
