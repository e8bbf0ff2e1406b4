import { setTimeout } from 'node:timers/promises';
import type postgres from 'postgres';
import { faults } from '../faults.ts';
import type { Instance } from '../world.ts';
import { type FeedWorld, plantsOn } from './feed-world.ts';

export type BeginFault = (world: FeedWorld, instance: Instance) => Promise<() => unknown>;

const { freeze, kill, freezeBackends, holdNetwork, loseResponses, cutNetwork } = faults;

/** The faults that can happen in any order. */
export const feedFaults: Record<string, BeginFault> = {
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
    await onceReady(
      () => admin`select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() and pid % 2 = 0`,
    );
    return () => {};
  },

  /** Postgres ends all its processes and recovers as after a crash. */
  async crashBackend({ database: { admin } }) {
    const [backend] = await onceReady(
      () => admin<{ pid: number }[]>`select pid from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
    );
    if (backend) process.kill(backend.pid, 'SIGKILL');
    return () => untilReady(admin);
  },

  /**
   * Postgres forgets commits that did not wait until they were durable, because its process for such
   * commits was frozen. The other writers rest, because a durable commit keeps all earlier commits.
   */
  async forgetCommits(world) {
    const { admin } = world.database;
    world.isResting = true;
    await setTimeout(300);
    const [writer] = await onceReady(
      () => admin<{ pid: number }[]>`
        select pid from pg_stat_activity where backend_type = 'walwriter'`,
    );
    if (writer) process.kill(writer.pid, 'SIGSTOP');
    return async () => {
      if (writer) process.kill(writer.pid, 'SIGKILL');
      world.isResting = false;
      await untilReady(admin);
    };
  },
};

/** Kills the primary and promotes the standby, which is the Postgres of all later faults. */
export const promoteStandby: BeginFault = async (world, instance) => {
  const { database, standby } = world;
  await database.server.halt('SIGKILL');
  await faults.promoteStandby(world, instance);
  if (standby) world.database = plantsOn(standby);
  world.standby = undefined;
  await database.admin.end({ timeout: 1 });
  return async () => {
    await untilReady(world.database.admin);
    // No copy from before the promotion has this plant, so each follower must notice the promotion.
    await world.database.admin`insert into plants (id, name) values (0, 'after the promotion')`;
  };
};

const untilReady = (admin: postgres.Sql) => onceReady(() => admin`select 1`);

/**
 * Repeats a query until the database can run it. Right after the crash of a process, Postgres may still run
 * a query, and end its connection only then.
 */
async function onceReady<Rows>(query: () => PromiseLike<Rows>): Promise<Rows> {
  for (;;) {
    try {
      return await query();
    } catch {
      await setTimeout(50);
    }
  }
}
