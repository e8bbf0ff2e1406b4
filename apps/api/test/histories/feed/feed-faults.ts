import { setTimeout } from 'node:timers/promises';
import type postgres from 'postgres';
import { faults } from '../faults.ts';
import type { Instance } from '../world.ts';
import type { FeedWorld } from './feed-world.ts';

type BeginFault = (world: FeedWorld, instance: Instance) => Promise<() => unknown>;

const { freeze, kill, freezeBackends, holdNetwork, loseResponses, cutNetwork } = faults;

export const feedFaults = {
  freeze,
  kill,
  freezeBackends,
  holdNetwork,
  loseResponses,
  cutNetwork,

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

/** Replaces the primary for good. No later fault may stop or start it. */
export async function promoteStandby(world: FeedWorld): Promise<void> {
  await world.database.server.halt('SIGKILL');
  await faults.promoteStandby(world, world.instances[0]);
  await untilReady(world.database.admin);
}

export type FeedFaultName = keyof typeof feedFaults;

/** Resolves when the connection to the database works again. */
async function untilReady(admin: postgres.Sql): Promise<void> {
  while (!(await admin`select 1`.catch(() => undefined))) await setTimeout(50);
}
