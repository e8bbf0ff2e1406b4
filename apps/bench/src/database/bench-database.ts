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
  /**
   * Adds a million plants to an empty table, half of them with a tag. Their ids have 19 digits and are
   * spread over int64.
   *
   * @param every adds only one of so many of these plants
   */
  fillForReads(every?: number): Promise<void>;
  /**
   * Replaces the index on tags with one that has no entries. Without any index of that name, the
   * server would build it again when it starts.
   */
  emptyTagIndex(): Promise<void>;
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
    async fillForReads(every = 1) {
      // `storedId` in ../load/ids.ts has the same formula.
      await sql`
        insert into plants (id, name, tag)
        select (1 - n % 2 * 2) * ((1000000 + 8 * n) * 1000000000000 + 345678901234) as id,
          genera[1 + n % 6] || ' ' || epithets[1 + n % 7],
          case when n / 2 % 2 = 0 then families[1 + n % 6] end
        from generate_series(0, 999999::bigint, ${every}::bigint) as n, (values (
          array['Monstera', 'Ficus', 'Hoya', 'Calathea', 'Dracaena', 'Phalaenopsis'],
          array['Araceae', 'Moraceae', 'Apocynaceae', 'Marantaceae', 'Asparagaceae', 'Orchidaceae'],
          array['deliciosa', 'elastica', 'carnosa', 'orbifolia', 'fragrans', 'amabilis', 'alba']
        )) as words (genera, families, epithets)
        order by id`;
      await sql`vacuum analyze plants`;
    },
    async emptyTagIndex() {
      await sql`drop index plants_tag`;
      await sql`create index plants_tag on plants (id) where false`;
    },
    async countPlants() {
      const [row] = await sql`select count(*)::int from plants`;
      return row?.['count'];
    },
    close: () => sql.end(),
  };
}
