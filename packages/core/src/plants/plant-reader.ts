import type { ListPlants, PlantPage, StoredPlant } from '@plant-store/schemas';
import type { Database, RunOptions } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { createPageReader, type PageQuery, whereClause } from './pages.ts';
import { type SearchBounds, searchBounds } from './search.ts';

/** Selects the plants to read. A query without properties selects all plants. */
export type PlantQuery = Partial<PageQuery>;

export interface PlantReader {
  /**
   * Returns the plant with this id, or undefined when no plant has this id.
   *
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many look-ups wait
   */
  get(id: bigint, options?: CallOptions): Promise<StoredPlant | undefined>;
  /**
   * Returns a page of plants in ascending order of id. A page has fewer plants than `limit` when the names
   * and tags of `limit` plants would exceed 1 MiB. A page with `search` may have fewer plants or no plants,
   * because a search reads a limited number of plants. To read the next page, pass `next` as `after`.
   *
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many lists wait
   */
  list(query: ListPlants, options?: CallOptions): Promise<PlantPage>;
  /**
   * Counts the plants with `tag`. Without `tag`, counts all plants. A count of many millions of plants may
   * take minutes.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  count(query?: { readonly tag?: string | undefined }): Promise<number>;
  /**
   * Reads plants in ascending order of id, in pages of limited size. A plant that exists during all reads is
   * returned exactly once. A plant that is created or deleted between the reads may be missing.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  read(query?: PlantQuery): AsyncGenerator<StoredPlant[]>;
}

/** The plants to count. Without `tag`, the query counts all plants. */
export type CountQuery = Pick<PageQuery, 'tag'>;

/** Counts plants up to a limit. */
export type CountUpTo = (
  limit: number,
  query?: CountQuery,
  options?: Partial<Pick<RunOptions, 'kind' | keyof CallOptions>>,
) => Promise<number>;

/** The maximum number of plants in a page of `read`. */
const bulkPageSize = 5_000;

/** @param bounds the bounds for a page of a search */
export function createPlantReader(
  database: Pick<Database, 'read'>,
  bounds: SearchBounds = searchBounds.postgres,
): Omit<PlantReader, 'get'> {
  const readPage = createPageReader(database, bounds);
  const countUpTo = createCountUpTo(database);

  return {
    list: (page, options) =>
      readPage(page, { kind: page.search === undefined ? 'reads' : 'searches', ...options }),

    count: (query) => countUpTo(Number.POSITIVE_INFINITY, query, { kind: 'counts' }),

    async *read({ limit = Number.POSITIVE_INFINITY, ...condition } = {}) {
      let remaining = limit;
      let { after } = condition;
      while (remaining > 0) {
        const size = Math.min(remaining, bulkPageSize);
        const page = readPage({ ...condition, after, limit: size }, { kind: 'counts' });
        const { plants, next } = await page;
        if (plants.length > 0) yield plants;
        if (next === undefined) return;
        remaining -= plants.length;
        after = next;
      }
    },
  };
}

export function createCountUpTo({ read }: Pick<Database, 'read'>): CountUpTo {
  return async (limit, query = {}, options = {}) => {
    const { where, values } = whereClause(query);
    // The limit is a part of the SQL text and not a parameter, so that the planner knows the limit: see
    // pages.ts.
    const upTo = limit === Number.POSITIVE_INFINITY ? '' : `limit ${limit}`;
    const text = `select count(*) from (select 1 from plants ${where} ${upTo}) as found`;
    const { rows } = await read(text, values, { kind: 'reads', ...options });
    // The cast is safe, because the statement returns one row with one count.
    const [[count]] = rows as [[string | number]];
    return Number(count);
  };
}
