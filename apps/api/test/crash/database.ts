import { setTimeout } from 'node:timers/promises';
import { runSql, startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';

/** A Postgres with a synchronous standby. Postgres acknowledges a commit when the standby has the commit. */
export type Database = Awaited<ReturnType<typeof startDatabase>>;

/** The store's role, which has no special privileges. Only the store uses this role. */
const role = 'gardener';

/** The milliseconds between two counts of the store's sessions. */
const countPause = 200;

// No fault crashes the machine, so no file needs fsync. The interval lets a standby reconnect soon.
const settings = { fsync: 'off', wal_retrieve_retry_interval: '200ms', autovacuum: 'off' };

/** Starts the primary. To simulate a full disk, `maxFileSize` limits the size of each file, in KiB. */
export async function startDatabase(maxFileSize?: number) {
  const first = await startPostgres(settings, maxFileSize ? { maxFileSize } : {});
  await runSql(first.url, `create role ${role} login`, `create database plants owner ${role}`);
  let primary = first;
  let standby: TestPostgres | undefined;
  let isStopped = false;
  const counts: { time: number; sessions: number }[] = [];

  const urlOf = (server: TestPostgres, username: string) =>
    Object.assign(new URL(server.url), { username, pathname: 'plants' }).href;
  /** With `fetch_types`, postgres.js 3.4 would end this process when a connection is lost. */
  const connect = () =>
    postgres(urlOf(primary, 'postgres'), { max: 1, fetch_types: false, onnotice: () => {} });

  async function query<Row extends object>(text: string): Promise<Row[]> {
    const sql = connect();
    try {
      return await sql.unsafe<Row[]>(text);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  const countSessions = async () => {
    while (!isStopped) {
      const count = `select from pg_stat_activity where usename = '${role}'`;
      const sessions = await query(count).catch(() => []);
      counts.push({ time: performance.now(), sessions: sessions.length });
      await setTimeout(countPause);
    }
  };

  return {
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    /** The URLs of the primary and of the standby, for the store's role. */
    urls: () => [primary, ...(standby ? [standby] : [])].map((server) => urlOf(server, role)),
    query,
    /** Starts the standby, for which synchronous commits wait. Begins to count sessions. */
    async addStandby(): Promise<void> {
      standby = await first.startStandby();
      await runSql(first.url, "alter system set synchronous_standby_names = '*'");
      await runSql(first.url, 'select pg_reload_conf()');
      await untilStreaming();
      void countSessions();
    },
    /** Resolves when the standby confirms commits again. */
    untilStreaming,
    /** Kills the primary, and makes the standby the only server. */
    async promote(): Promise<void> {
      if (!standby) throw new Error('the standby has already been promoted');
      await first.halt('SIGKILL');
      await standby.promote();
      [primary, standby] = [standby, undefined];
    },
    /** Runs an action while no other transaction writes plants. */
    async betweenWrites<T>(action: () => Promise<T>): Promise<T> {
      const sql = connect();
      await sql.unsafe('begin');
      await sql.unsafe('lock table plants in exclusive mode');
      const result = await action();
      // If the action froze Postgres, the transaction ends only after Postgres resumes.
      const ended = sql.unsafe('commit').catch(() => {});
      void ended.then(() => sql.end({ timeout: 1 }));
      return result;
    },
    /** Returns the highest number of the store's sessions since the time `from`. */
    mostSessions: (from = 0) =>
      Math.max(0, ...counts.map(({ time, sessions }) => (time >= from ? sessions : 0))),
    async stop(): Promise<void> {
      isStopped = true;
      for (const server of new Set([standby, primary, first])) await server?.stop();
    },
  };

  async function untilStreaming(): Promise<void> {
    const streaming =
      "select from pg_stat_replication where state = 'streaming' and sync_state = 'sync'";
    while ((await query(streaming).catch(() => [])).length === 0) await setTimeout(20);
  }
}
