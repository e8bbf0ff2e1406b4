import { runSql, startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';

/** A Postgres with an empty database. The store's user owns the database. */
export interface PlantsDatabase {
  server: TestPostgres;
  /** The URL that the store uses. */
  url: string;
  /** A superuser's connection to the database. */
  admin: postgres.Sql;
  stop(): Promise<void>;
}

/** Starts a Postgres with an empty database. Takes the options of `startPostgres`. */
export async function startPlantsDatabase(
  options?: Parameters<typeof startPostgres>[1],
): Promise<PlantsDatabase> {
  // No test crashes the machine, so most tests need no fsync. A slow disk has an effect only with fsync.
  const server = await startPostgres({ fsync: options?.env ? 'on' : 'off' }, options);
  await runSql(server.url, 'create role gardener login', 'create database plants owner gardener');

  const database = plantsOn(server);
  await database.admin`select 1`; // The connection opens before a test causes a fault.
  return {
    ...database,
    async stop() {
      await database.stop();
      await server.stop();
    },
  };
}

/** Connects to a database of plants on a running server. The caller must stop the server. */
export function plantsOn(server: TestPostgres, pathname = 'plants'): PlantsDatabase {
  const urlFor = (username: string) =>
    Object.assign(new URL(server.url), { username, pathname }).href;
  // This connection does not read array types. When postgres.js 3.4 cannot read the array types after a
  // restart, postgres.js ends this process.
  const admin = postgres(urlFor('postgres'), { max: 1, fetch_types: false, onnotice: () => {} });
  return { server, url: urlFor('gardener'), admin, stop: () => admin.end() };
}

/** Starts a standby. From then on, each commit waits for a standby. */
export async function startSynchronousStandby(database: PlantsDatabase): Promise<TestPostgres> {
  const standby = await database.server.startStandby();
  await setSetting(database, "set synchronous_standby_names = '*'");
  return standby;
}

/** Runs `alter system` with an action such as `set fsync = off`. */
export async function setSetting({ server }: PlantsDatabase, setting: string): Promise<void> {
  await runSql(server.url, `alter system ${setting}`, 'select pg_reload_conf()');
}
