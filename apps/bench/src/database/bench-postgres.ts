import { openPlantStore } from '@plant-store/core';
import { createDatabase, startPostgres } from '@plant-store/test-setup';
import { openDatabase, type PostgresDatabase } from './bench-database.ts';

/** A Postgres server started for the benchmark. */
export type BenchPostgres = Awaited<ReturnType<typeof startBenchPostgres>>;

/** Starts Postgres with its default durability: `fsync` and `synchronous_commit` are on. */
export async function startBenchPostgres(...options: Parameters<typeof startPostgres>) {
  const server = await startPostgres(...options);
  const databases: PostgresDatabase[] = [];
  let stopped: Promise<void> | undefined;
  return {
    /** Creates a database with the store's tables. */
    async createDatabase() {
      const url = await createDatabase(server.url);
      await createTables(url);
      const database = openDatabase([url], [server.process.pid ?? Number.NaN], url);
      databases.push(database);
      return database;
    },
    /** Stops the server and removes its data. A second call has no effect. */
    stop: () => (stopped ??= stop()),
  };

  async function stop(): Promise<void> {
    await Promise.all(databases.map(({ sql }) => sql.end()));
    await server.stop();
  }
}

/** The store creates its tables when it opens. */
export async function createTables(databaseUrl: string): Promise<void> {
  await (await openPlantStore({ databaseUrl })).close();
}
