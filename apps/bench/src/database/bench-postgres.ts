import { createDatabase, startPostgres } from '@plant-store/test-setup';
import { type BenchDatabase, openBenchDatabase } from './bench-database.ts';

/** A Postgres server started for the benchmark. */
export interface BenchPostgres {
  /** The process id of the server, whose other processes are its children. */
  readonly pid: number | undefined;
  /** Creates a database with the store's tables. */
  createDatabase(): Promise<BenchDatabase>;
  /** Stops the server and removes its data. It is safe to call this twice. */
  stop(): Promise<void>;
}

/** Starts Postgres with its default durability: `fsync` and `synchronous_commit` are on. */
export async function startBenchPostgres(): Promise<BenchPostgres> {
  const server = await startPostgres();
  const databases: BenchDatabase[] = [];
  let stopped: Promise<void> | undefined;
  return {
    pid: server.process.pid,
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
