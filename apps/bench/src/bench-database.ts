import { openPlantStore } from '@plant-store/core';
import { startPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';

/** A Postgres with the store's tables, made for the benchmark. */
export interface BenchDatabase {
  readonly url: string;
  readonly version: string;
  /** Empties `plants` and starts from a checkpoint, so that none falls into one contender's time alone. */
  empty(): Promise<void>;
  /** Adds plants until there are so many, with ids that are multiples of 1000. */
  fill(plants: number): Promise<void>;
  countPlants(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts it with its usual durability: fsync and synchronous_commit are on. */
export async function startBenchDatabase(): Promise<BenchDatabase> {
  const server = await startPostgres();
  const { url } = server;
  const store = await openPlantStore({ databaseUrl: url });
  await store.close();

  const sql = postgres(url, { max: 1 });
  const [{ server_version: version } = { server_version: '' }] = await sql`show server_version`;
  return {
    url,
    version,
    async empty() {
      await sql`truncate plants`;
      await sql`checkpoint`;
    },
    async fill(plants) {
      const [there] = await sql`select count(*)::int from plants where id % 1000 = 0`;
      await sql`
        insert into plants (id, name, tag)
        select n * 1000::bigint, 'Monstera deliciosa', 'Araceae'
        from generate_series(${there?.['count']}::int, ${plants - 1}::int) as n`;
      await sql`vacuum analyze plants`;
      await sql`checkpoint`;
    },
    async countPlants() {
      const [row] = await sql`select count(*)::int from plants`;
      return row?.['count'];
    },
    async stop() {
      await sql.end();
      await server.stop();
    },
  };
}
