import type { PlantStoreClient } from './client.ts';
import {
  type FollowOptions,
  follow,
  type PlantChanges,
  type PlantQuery,
  type StoredPlant,
} from './follow.ts';

/** Selects plants by the parameters of `listPlants`. A page has at most `limit` plants. */
export type PlantPagesQuery = Omit<Exclude<PlantQuery, void>, 'after'>;

/** A page of plants. On the last page, `next` is absent. */
export interface PlantPage {
  plants: StoredPlant[];
  next?: string | undefined;
}

/** Returns the options for an infinite query of TanStack Query: `useInfiniteQuery(plantPages(store))`. */
export function plantPages(
  client: Pick<PlantStoreClient, 'listPlants'>,
  query: PlantPagesQuery = {},
) {
  return {
    queryKey: ['plantPages', query] as const,
    initialPageParam: undefined as string | undefined, // Each later page begins after a `next`.
    getNextPageParam: ({ next }: PlantPage) => next,
    queryFn: ({ pageParam, signal }: { pageParam: string | undefined; signal: AbortSignal }) =>
      client.listPlants.query({ ...query, after: pageParam }, { signal }),
  };
}

export interface FollowPlantPagesOptions extends PlantPagesQuery, FollowOptions {}

/** The methods of TanStack Query's `QueryClient` that `followPlantPages` calls. */
interface QueryClient {
  invalidateQueries(filters: Filters, options: { cancelRefetch: boolean }): Promise<void>;
  isFetching(filters: Filters): number;
  getQueryData(queryKey: readonly unknown[]): unknown;
}

interface Filters {
  queryKey: readonly unknown[];
  exact: true;
}

/**
 * Loads the pages of `plantPages` again when a change of the store concerns them. Pass the same query to
 * `plantPages` and to `followPlantPages`.
 *
 * @returns a function that ends the updates
 */
export function followPlantPages(
  client: Pick<PlantStoreClient, 'listPlants' | 'listPlantChanges'>,
  queryClient: QueryClient,
  { onError, onConnection, ...query }: FollowPlantPagesOptions = {},
): () => void {
  const { queryKey } = plantPages(client, query);
  const filters = { queryKey, exact: true } as const;
  let isLoading = false;
  let isStale = false;
  const load = async () => {
    isStale = true;
    if (isLoading) return;
    isLoading = true;
    while (isStale) {
      // A request that is running may miss the change, so the pages are loaded again after it.
      isStale = queryClient.isFetching(filters) > 0;
      await queryClient.invalidateQueries(filters, { cancelRefetch: false });
    }
    isLoading = false;
  };
  return follow(
    client,
    {
      begin: load,
      apply(changes) {
        const data = queryClient.getQueryData(queryKey) as { pages: PlantPage[] } | undefined;
        if (!data || concerns(data.pages, query, changes)) void load();
      },
    },
    { onError, onConnection },
  );
}

/** Whether a plant of these pages has changed, or a plant that may belong to these pages. */
function concerns(
  pages: PlantPage[],
  { tag }: PlantPagesQuery,
  changes: PlantChanges['changes'],
): boolean {
  const shown = new Set(pages.flatMap(({ plants }) => plants.map(({ id }) => id)));
  const end = pages.at(-1)?.next;
  return changes.some(({ type, plant: { id, tag: own } }) => {
    if (shown.has(id)) return true;
    if (type === 'deleted' || (tag !== undefined && tag !== own)) return false;
    return end === undefined || id <= BigInt(end); // The digits of an id are a cursor of the list.
  });
}

/**
 * Default options for the queries of TanStack Query. Keys and responses can contain a `bigint` and a `Date`.
 * A plant that is equal in two responses stays the same object. TanStack Query does not retry, because the
 * client retries.
 */
export const queryDefaults = {
  queryKeyHashFn: hashKey,
  structuralSharing: keepEqual,
  retry: false,
} as const;

/** The order of properties does not matter. */
function hashKey(key: readonly unknown[]): string {
  return JSON.stringify(key, (_name, value) => {
    if (typeof value === 'bigint') return `${value}n`;
    return isPlain(value) ? Object.fromEntries(Object.entries(value).sort()) : value;
  });
}

/** Returns a value that is equal to `next`, and reuses each object of `last` that has not changed. */
function keepEqual(last: unknown, next: unknown): unknown {
  if (last instanceof Date && next instanceof Date) return +last === +next ? last : next;
  const areLists = Array.isArray(last) && Array.isArray(next);
  if (!areLists && !(isPlain(last) && isPlain(next))) return next;
  const known = new Map(Object.entries(last));
  const kept = Object.entries(next).map(([name, value]) => {
    const both = keepEqual(known.get(name), value);
    return { name, value: both, isSame: known.has(name) && Object.is(both, known.get(name)) };
  });
  if (kept.length === known.size && kept.every(({ isSame }) => isSame)) return last;
  if (areLists) return kept.map(({ value }) => value);
  return Object.fromEntries(kept.map(({ name, value }) => [name, value]));
}

function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}
