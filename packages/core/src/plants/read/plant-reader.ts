import type { ListPlants, PlantPage, StoredPlant } from '@plant-store/schemas';
import { sql } from 'drizzle-orm';
import type { FindNode } from '../../database/cluster/find-node.ts';
import type { Database } from '../../database/database.ts';
import { orUnavailable } from '../../database/database-error.ts';
import { createLookupBatcher } from '../../database/lookup-batcher.ts';
import { plants } from '../../database/tables.ts';
import { queryWithTimeout } from '../../database/timeout.ts';
import { type CallOptions, timeLeft } from '../deadline.ts';
import { prepareStatement } from '../statement.ts';
import { createPageReader, type PageQuery } from './page-reader.ts';
import { createPlantCounter } from './plant-counter.ts';
import { type StoredPlantRow, storedPlantColumns, toStoredPlant } from './stored-plant.ts';

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
   * @throws PlantStoreError `databaseUnavailable`
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

/** Plants in a page of `read`, at most. */
const bulkPageSize = 5_000;

/**
 * @param database reads single plants and pages for requests; its `bulk` reads all plants
 * @param findNode finds the node of a cluster that stores a plant
 */
export function createPlantReader(
  database: Omit<Database, 'close'>,
  findNode: FindNode = () => undefined,
): PlantReader {
  const { bulk, allNodes = database } = database;
  const readPage = createPageReader(allNodes);
  const readBulkPage = createPageReader(bulk);
  const count = createPlantCounter(bulk);
  const lookUp = createPlantLookUp(database);
  /** On a cluster, each node has its own look-ups, so that they go on while another node is away. */
  const byNode = new Map<object, typeof lookUp>();

  return {
    get: (id, options) => lookUpOnNodeOf(id)(id, timeLeft(options)),

    list: (page, options) => queryWithTimeout(readPage(page), timeLeft(options)),

    count: (query) => orUnavailable(count(query)),

    async *read({ limit = Number.POSITIVE_INFINITY, ...condition } = {}) {
      let remaining = limit;
      let { after } = condition;
      while (remaining > 0) {
        const size = Math.min(remaining, bulkPageSize);
        const { plants, next } = await orUnavailable(
          readBulkPage({ ...condition, after, limit: size }),
        );
        if (plants.length > 0) yield plants;
        if (next === undefined) return;
        remaining -= plants.length;
        after = next;
      }
    },
  };

  function lookUpOnNodeOf(id: bigint): typeof lookUp {
    const access = findNode(id)?.access;
    if (!access) return lookUp;
    const onNode = byNode.get(access) ?? createPlantLookUp(access);
    byNode.set(access, onNode);
    return onNode;
  }
}

/** Makes a function that looks up a plant by its id. */
function createPlantLookUp({ db, query }: Pick<Database, 'db' | 'query'>) {
  const selectByIds = prepareStatement(
    query,
    db
      .select(storedPlantColumns(plants))
      .from(plants)
      .where(sql`${plants.id} = any(${sql.placeholder('ids')}::bigint[])`),
  );
  return createLookupBatcher<bigint, StoredPlant>({
    what: 'plants',
    async find(ids) {
      const { rows } = await selectByIds({ ids: `{${ids}}` });
      const found = (rows as StoredPlantRow[]).map(toStoredPlant); // The selected columns.
      return new Map(found.map((plant) => [plant.id, plant]));
    },
  });
}
