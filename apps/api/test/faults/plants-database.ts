import { startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';

/** A Postgres with an empty database for the store, which is no administrator there. */
export interface PlantsDatabase {
  server: TestPostgres;
  /** The store's URL. */
  url: string;
  /** A connection of the administrator, to the same database. */
  admin: postgres.Sql;
  stop(): Promise<void>;
}

/** Starts one; its options are those of `startPostgres`. */
export async function startPlantsDatabase(
  options?: Parameters<typeof startPostgres>[1],
): Promise<PlantsDatabase> {
  // Nobody pulls the plug here, and fsync is most of the time.
  const server = await startPostgres({ fsync: 'off' }, options);
  const sql = postgres(server.url, { max: 1 });
  await sql`create role gardener login`;
  await sql`create database plants owner gardener`;
  await sql.end();

  const admin = postgres(withPlace(server.url, 'postgres'), { max: 1, onnotice: () => {} });
  await admin`select 1`; // It is connected before anything goes wrong.
  return {
    server,
    url: withPlace(server.url, 'gardener'),
    admin,
    async stop() {
      await admin.end();
      await server.stop();
    },
  };
}

function withPlace(url: string, username: string): string {
  return Object.assign(new URL(url), { username, pathname: 'plants' }).href;
}
