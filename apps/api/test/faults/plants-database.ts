import { runSql, startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';

/** A Postgres with an empty database. The store's user owns the database. */
export interface PlantsDatabase {
  server: TestPostgres;
  /** The URL that the store uses. */
  url: string;
  /** A connection of a superuser to the same database. */
  admin: postgres.Sql;
  stop(): Promise<void>;
}

/** Starts a Postgres with an empty database. Takes the options of `startPostgres`. */
export async function startPlantsDatabase(
  options?: Parameters<typeof startPostgres>[1],
): Promise<PlantsDatabase> {
  // Only tests with a slow disk need fsync, because no test crashes the machine.
  const server = await startPostgres({ fsync: options?.env ? 'on' : 'off' }, options);
  await runSql(server.url, 'create role gardener login', 'create database plants owner gardener');

  const admin = postgres(withDatabase(server.url, 'postgres'), { max: 1, onnotice: () => {} });
  await admin`select 1`; // The connection opens before a test causes a fault.
  return {
    server,
    url: withDatabase(server.url, 'gardener'),
    admin,
    async stop() {
      await admin.end();
      await server.stop();
    },
  };
}

/** Runs `alter system` with an action such as `set fsync = off`. */
export async function setSetting({ server }: PlantsDatabase, setting: string): Promise<void> {
  await runSql(server.url, `alter system ${setting}`, 'select pg_reload_conf()');
}

function withDatabase(url: string, username: string): string {
  return Object.assign(new URL(url), { username, pathname: 'plants' }).href;
}
