import { setTimeout } from 'node:timers/promises';
import type postgres from 'postgres';
import { faults } from '../faults.ts';
import type { Instance, World } from '../world.ts';
import type { FeedWorld } from './feed-world.ts';

type BeginFault = (world: FeedWorld, instance: Instance) => Promise<() => unknown>;

/** A fault of the other histories. */
const known =
  (name: keyof typeof faults): BeginFault =>
  (world, instance) =>
    faults[name]({ ...world, standby: undefined } satisfies World, instance);

export const feedFaults = {
  freeze: known('freeze'),
  kill: known('kill'),
  freezeBackends: known('freezeBackends'),
  holdNetwork: known('holdNetwork'),
  loseResponses: known('loseResponses'),
  cutNetwork: known('cutNetwork'),

  async restartPostgres({ database: { server, admin } }) {
    await server.halt();
    return async () => {
      await server.start();
      await untilReady(admin);
    };
  },

  async cutFeedNetwork({ feedNetwork }) {
    feedNetwork.fault = 'reset';
    return () => {
      feedNetwork.fault = 'none';
    };
  },

  async endBackends({ database: { admin } }) {
    await admin`select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid() and pid % 2 = 0`;
    return () => {};
  },

  /** Postgres ends all its processes and recovers as after a crash. */
  async crashBackend({ database: { admin } }) {
    const [backend] = await admin<{ pid: number }[]>`select pid from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`;
    if (backend) process.kill(backend.pid, 'SIGKILL');
    return () => untilReady(admin);
  },
} satisfies Record<string, BeginFault>;

export type FeedFaultName = keyof typeof feedFaults;

/** Resolves when the connection to the database works again. */
async function untilReady(admin: postgres.Sql): Promise<void> {
  while (!(await admin`select 1`.catch(() => undefined))) await setTimeout(50);
}
