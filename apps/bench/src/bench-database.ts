import { openPlantStore } from '@plant-store/core';
import { startPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';

/** A Postgres with the store's tables, made for the benchmark. */
export interface BenchDatabase {
  readonly url: string;
  readonly version: string;
  /** Empties `plants` and starts from a checkpoint, so that none falls into one contender's time alone. */
  empty(): Promise<void>;
  checkpoint(): Promise<void>;
  /** Adds plants, up to 10 million, until there are so many whose ids are multiples of 10^4. */
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
  const checkpoint = async () => {
    await sql`checkpoint`;
  };
  return {
    url,
    version,
    async empty() {
      await sql`truncate plants`;
      await checkpoint();
    },
    checkpoint,
    async fill(plants) {
      const [there] = await sql`select count(*)::int from plants where id % 10000 = 0`;
      // Strewn as those of a load are, so that a smaller table has the same range.
      await sql`
        insert into plants (id, name, tag)
        select n * 7368787 % 10000000 * 10000 as id, 'Monstera deliciosa', 'Araceae'
        from generate_series(${there?.['count']}::bigint, ${plants - 1}::bigint) as n
        order by id`;
      await sql`vacuum analyze plants`;
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
