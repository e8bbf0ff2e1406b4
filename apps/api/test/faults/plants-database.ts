import { runSql, startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';

/**
 * A Postgres with an empty database. The store's user owns the database and has no other
 * privileges.
 */
export interface PlantsDatabase {
  server: TestPostgres;
  /** The URL that the store uses. */
  url: string;
  /** A connection to the same database as administrator. */
  admin: postgres.Sql;
  stop(): Promise<void>;
}

/** Starts a Postgres with an empty database. The options are those of `startPostgres`. */
export async function startPlantsDatabase(
  options?: Parameters<typeof startPostgres>[1],
): Promise<PlantsDatabase> {
  // No test turns the machine off, and fsync would take most of the time.
  const server = await startPostgres({ fsync: options?.env ? 'on' : 'off' }, options);
  await runSql(server.url, 'create role gardener login', 'create database plants owner gardener');

  const admin = postgres(withDatabase(server.url, 'postgres'), { max: 1, onnotice: () => {} });
  await admin`select 1`; // This connects before a test breaks something.
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

/** Changes a setting of the server as `alter system` does, such as `set fsync = off`. */
export async function setSetting({ server }: PlantsDatabase, setting: string): Promise<void> {
  await runSql(server.url, `alter system ${setting}`, 'select pg_reload_conf()');
}

function withDatabase(url: string, username: string): string {
  return Object.assign(new URL(url), { username, pathname: 'plants' }).href;
}
