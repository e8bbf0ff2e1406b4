import { openPlantStore } from '@plant-store/core';
import postgres from 'postgres';

/** A database with the store's tables. */
export interface BenchDatabase {
  readonly url: string;
  /** Postgres's version. */
  readonly version: string;
  /** Empties `plants` and runs a checkpoint, so that no checkpoint slows down only one contender. */
  empty(): Promise<void>;
  checkpoint(): Promise<void>;
  /** Adds plants, at most 10 million, to an empty table. Their ids are multiples of 10^4. */
  fill(plants: number): Promise<void>;
  countPlants(): Promise<number>;
  close(): Promise<void>;
}

export async function openBenchDatabase(url: string): Promise<BenchDatabase> {
  // The store creates its tables when it opens.
  const store = await openPlantStore({ databaseUrl: url });
  await store.close();

  const sql = postgres(url, { max: 1 });
  const [row] = await sql`show server_version`;
  const checkpoint = async () => {
    await sql`checkpoint`;
  };
  return {
    url,
    version: row?.['server_version'],
    async empty() {
      await sql`truncate plants`;
      await checkpoint();
    },
    checkpoint,
    async fill(plants) {
      // Spread over the same range as the ids of a load, however many plants there are.
      await sql`
        insert into plants (id, name, tag)
        select n * 7368787 % 10000000 * 10000 as id, 'Monstera deliciosa', 'Araceae'
        from generate_series(0, ${plants - 1}::bigint) as n
        order by id`;
      await sql`vacuum analyze plants`;
    },
    async countPlants() {
      const [row] = await sql`select count(*)::int from plants`;
      return row?.['count'];
    },
    close: () => sql.end(),
  };
}
