import type { ListPlants, PlantPage, StoredPlant } from '@plant-store/schemas';
import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../database/database.ts';
import { orUnavailable } from '../database/database-error.ts';
import { bulkTimeout, type CallOptions, deadlineIn, deadlineOf } from '../database/deadline.ts';
import { drizzleOver } from '../database/drizzle-over.ts';
import { plants, tagHash } from '../database/tables.ts';
import { createPageReader, type PageQuery } from './pages.ts';

/** Which plants to read; all of them when every property is omitted. */
export type PlantQuery = Partial<PageQuery>;

export interface PlantReader {
  /**
   * The plant with this id; undefined when there is none.
   *
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many look-ups wait
   */
  get(id: bigint, options?: CallOptions): Promise<StoredPlant | undefined>;
  /**
   * A page of plants, ascending by id. It has fewer plants than `limit` when their names and tags
   * exceed 1 MiB; `next` is the `after` of the next page.
   *
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many lists wait
   */
  list(query: ListPlants, options?: CallOptions): Promise<PlantPage>;
  /**
   * How many plants there are, or how many with this tag. It may take minutes for many millions.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  count(query?: { readonly tag?: string | undefined }): Promise<number>;
  /**
   * Reads plants ascending by id, in pages of limited size. A plant that exists the whole time is
   * returned exactly once. A plant that is created meanwhile may or may not be returned.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  read(query?: PlantQuery): AsyncGenerator<StoredPlant[]>;
}

/** As much of a lane as reading needs. */
export type ReadingLane = Pick<PlantReader, 'get'>;

/** Plants in a page of `read`, at most. */
const bulkPageSize = 5_000;

/** @param database reads pages for requests; its `bulk` reads all plants */
export function createPlantReader(
  { run, bulk }: Pick<Database, 'run' | 'bulk'>,
  { laneOf }: { readonly laneOf: (id: bigint) => ReadingLane },
): PlantReader {
  const readPage = createPageReader(run);
  const readBulkPage = createPageReader(bulk.run);
  const bulkOptions = () =>
    ({ share: 'bulk', deadline: deadlineIn(bulkTimeout), isRepeatable: true }) as const;
  const db = drizzleOver(bulk.run, bulkOptions);

  return {
    get: (id, options) => laneOf(id).get(id, options),

    list: (page, options = {}) =>
      orUnavailable(readPage(page, deadlineOf(options), options.caller)),

    async count({ tag } = {}) {
      const withTag =
        tag === undefined
          ? undefined
          : and(eq(tagHash(plants.tag), tagHash(sql`${tag}::text`)), eq(plants.tag, tag));
      const count = sql`count(*)`.mapWith(Number);
      const [row] = await orUnavailable(db.select({ count }).from(plants).where(withTag));
      return row?.count ?? 0;
    },

    async *read({ limit = Number.POSITIVE_INFINITY, ...condition } = {}) {
      let remaining = limit;
      let { after } = condition;
      while (remaining > 0) {
        const size = Math.min(remaining, bulkPageSize);
        const page = readBulkPage({ ...condition, after, limit: size }, deadlineIn(bulkTimeout));
        const { plants, next } = await orUnavailable(page);
        if (plants.length > 0) yield plants;
        if (next === undefined) return;
        remaining -= plants.length;
        after = next;
      }
    },
  };
}
