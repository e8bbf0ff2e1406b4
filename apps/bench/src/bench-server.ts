import { createDatabase, startPostgres } from '@plant-store/test-setup';
import { type BenchDatabase, openBenchDatabase } from './bench-database.ts';

/** A Postgres made for the benchmark. */
export interface BenchServer {
  /** A new database with the store's tables. */
  createDatabase(): Promise<BenchDatabase>;
  /** Ends it and removes its data. Safe to call twice. */
  stop(): Promise<void>;
}

/** Starts it with its usual durability: fsync and synchronous_commit are on. */
export async function startBenchServer(): Promise<BenchServer> {
  const server = await startPostgres();
  const databases: BenchDatabase[] = [];
  let stopped: Promise<void> | undefined;
  return {
    async createDatabase() {
      const database = await openBenchDatabase(await createDatabase(server.url));
      databases.push(database);
      return database;
    },
    stop: () => (stopped ??= stop()),
  };

  async function stop(): Promise<void> {
    await Promise.all(databases.map((database) => database.close()));
    await server.stop();
  }
}
