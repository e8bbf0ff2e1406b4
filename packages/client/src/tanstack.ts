import type { PlantStoreClient } from './client.ts';
import { type FollowOptions, follow, type PlantPage, type PlantQuery } from './follow.ts';

/** Selects plants by the parameters of `listPlants`. A page has at most `limit` plants. */
type PlantPagesQuery = Omit<PlantQuery, 'after'>;

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

/** The methods of TanStack Query's `QueryClient` that `followPlantPages` calls. */
interface QueryClient {
  invalidateQueries(filters: Filters, options: { cancelRefetch: boolean }): Promise<void>;
  isFetching(filters: Filters): number;
}

interface Filters {
  queryKey: readonly unknown[];
  exact: true;
}

/**
 * Loads the pages of `plantPages` again after each change in the store. Pass the same query to `plantPages` and
 * to `followPlantPages`.
 *
 * @returns a function that ends the updates
 */
export function followPlantPages(
  client: Pick<PlantStoreClient, 'listPlants' | 'listPlantChanges'>,
  queryClient: QueryClient,
  { onError, onConnection, ...query }: PlantPagesQuery & FollowOptions = {},
): () => void {
  const filters = { queryKey: plantPages(client, query).queryKey, exact: true } as const;
  const load = async () => {
    let isEarlier: boolean;
    do {
      // A request that is running may miss the change, so the pages are loaded again after it.
      isEarlier = queryClient.isFetching(filters) > 0;
      await queryClient.invalidateQueries(filters, { cancelRefetch: false });
    } while (isEarlier);
  };
  return follow(client, { begin: load, apply: load }, { onError, onConnection });
}

/**
 * Default options for the queries of TanStack Query. Keys and responses can contain a `bigint` and a `Date`.
 * A plant that is equal in two responses stays the same object. TanStack Query does not retry, because the
 * client retries.
 */
export const queryDefaults = {
  queryKeyHashFn: (key: readonly unknown[]) => textOf(key),
  structuralSharing: keepEqual,
  retry: false,
} as const;

/** Equal values have equal texts. The order of properties does not matter. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, each) => {
    if (typeof each === 'bigint') return `${each}n`;
    return isPlain(each) ? Object.fromEntries(Object.entries(each).sort()) : each;
  });
}

/** Returns a value that is equal to `next`, and reuses each object of `last` that has not changed. */
function keepEqual(last: unknown, next: unknown): unknown {
  if (textOf(last) === textOf(next)) return last;
  const known = Object(last);
  if (Array.isArray(next)) return next.map((value, i) => keepEqual(known[i], value));
  if (!isPlain(next)) return next;
  const kept = Object.entries(next).map(([name, value]) => [name, keepEqual(known[name], value)]);
  return Object.fromEntries(kept);
}

function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}
