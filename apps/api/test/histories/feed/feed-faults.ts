import { setTimeout } from 'node:timers/promises';
import type postgres from 'postgres';
import { plantsOn } from '../../faults/plants-database.ts';
import { faults } from '../faults.ts';
import type { BeginFault, FeedWorld } from './feed-world.ts';

type Database = Pick<FeedWorld, 'database'>;

const { freeze, kill, freezeBackends, holdNetwork, loseResponses, cutNetwork } = faults;

/** The faults that a single Postgres can have in any order. */
export const feedFaults = {
  freeze,
  kill,
  freezeBackends,
  holdNetwork,
  loseResponses,
  cutNetwork,

  async restartPostgres({ database: { server, admin } }: Database) {
    await server.halt();
    return async () => {
      await server.start();
      await untilReady(admin);
    };
  },

  async cutFeedNetwork({ feedNetwork }: Pick<FeedWorld, 'feedNetwork'>) {
    feedNetwork.fault = 'reset';
    return () => {
      feedNetwork.fault = 'none';
    };
  },

  async endBackends({ database: { admin } }: Database) {
    await onceReady(
      () => admin`select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() and pid % 2 = 0`,
    );
    return () => {};
  },

  /** Postgres ends all its processes and recovers as after a crash. */
  async crashBackend({ database: { admin } }: Database) {
    const backend = await onceReady(() => backendOf(admin));
    process.kill(backend, 'SIGKILL');
    return () => untilReplaced(admin, backend);
  },

  /**
   * Postgres loses asynchronous commits, because the WAL writer is frozen and then killed. A synchronous
   * commit would make all earlier commits durable, so the writers with synchronous commits pause.
   */
  async forgetCommits(world: Pick<FeedWorld, 'database' | 'rest'>) {
    const { admin } = world.database;
    world.rest.isOn = true;
    await setTimeout(300);
    const backend = await onceReady(() => backendOf(admin));
    const [writer] = await onceReady(
      () => admin<{ pid: number }[]>`
        select pid from pg_stat_activity where backend_type = 'walwriter'`,
    );
    if (writer) process.kill(writer.pid, 'SIGSTOP');
    return async () => {
      if (writer) process.kill(writer.pid, 'SIGKILL');
      world.rest.isOn = false;
      if (writer) await untilReplaced(admin, backend);
    };
  },
} satisfies Record<string, BeginFault>;

/** Kills the primary and promotes the standby. All later faults concern the new primary. */
export const promoteStandby: BeginFault = async (world, instance) => {
  const { database, standby } = world;
  await database.server.halt('SIGKILL');
  await faults.promoteStandby(world, instance);
  if (standby) world.database = plantsOn(standby);
  world.standby = undefined;
  await database.admin.end({ timeout: 1 });
  return async () => {
    await untilReady(world.database.admin);
    // A follower gets the plant `promoted` only after the follower has noticed the promotion.
    await world.database.admin`insert into plants (id, name) values (0, 'after the promotion')`;
  };
};

export const untilReady = (admin: postgres.Sql) => onceReady(() => admin`select 1`);

/** Returns the id of the Postgres process that serves a connection. */
async function backendOf(admin: postgres.Sql): Promise<number> {
  const [row] = await admin<{ pid: number }[]>`select pg_backend_pid() as pid`;
  if (!row) throw new Error('the database returned no process');
  return row.pid;
}

/** Waits until another process of Postgres serves the connection. The old process could still run queries. */
async function untilReplaced(admin: postgres.Sql, old: number): Promise<void> {
  while ((await onceReady(() => backendOf(admin))) === old) await setTimeout(50);
}

/** If a query fails for this many milliseconds, `onceReady` throws the error. */
const patience = 120_000;

/** Repeats a query until the database can run the query. */
export async function onceReady<Rows>(query: () => PromiseLike<Rows>): Promise<Rows> {
  for (const until = performance.now() + patience; ; ) {
    try {
      return await query();
    } catch (error) {
      if (performance.now() > until) throw error;
      await setTimeout(50);
    }
  }
}
