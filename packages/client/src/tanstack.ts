import type { PlantPage } from '@plant-store/schemas';
import type { PlantStoreClient } from './client.ts';
import { type FollowOptions, follow, type PlantQuery } from './follow.ts';

/** Returns the options for an infinite query of TanStack Query: `useInfiniteQuery(plantPages(store))`. */
export function plantPages(client: Pick<PlantStoreClient, 'listPlants'>, query: PlantQuery = {}) {
  return {
    queryKey: ['plantPages', query] as const,
    initialPageParam: query.after,
    getNextPageParam: ({ next }: PlantPage) => next,
    queryFn: ({ pageParam, signal }: { pageParam: PlantQuery['after']; signal: AbortSignal }) =>
      client.listPlants.query({ ...query, after: pageParam }, { signal }),
  };
}

/** The methods of TanStack Query's `QueryClient` that `followPlantPages` calls. */
interface QueryClient {
  invalidateQueries(filters: object, options: object): Promise<void>;
  isFetching(filters: object): number;
}

/**
 * Loads the pages of `plantPages` again after each change in the store. Pass the same query to both functions.
 *
 * @returns a function that ends the updates
 */
export function followPlantPages(
  client: Pick<PlantStoreClient, 'listPlants' | 'listPlantChanges'>,
  queryClient: QueryClient,
  { onError, onConnection, ...query }: PlantQuery & FollowOptions = {},
): () => void {
  const filters = { queryKey: plantPages(client, query).queryKey, exact: true };
  const load = () => queryClient.invalidateQueries(filters, { cancelRefetch: false });
  const update = async () => {
    // A running request may miss the change, so the pages load again after the request.
    if (queryClient.isFetching(filters) > 0) await load();
    await load();
  };
  return follow(client, update, { onError, onConnection });
}

/**
 * Default options for the queries of TanStack Query. Keys and responses can contain a `bigint` and a `Date`.
 * A plant that is equal at the same place of two responses stays the same object. Only the client retries.
 */
export const queryDefaults = {
  queryKeyHashFn: textOf,
  structuralSharing: keepEqual,
  retry: false,
} as const;

/** Returns the same text for equal values. The order of properties does not matter. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, each) => {
    if (typeof each === 'bigint') return `${each}n`;
    return isPlain(each) ? Object.fromEntries(Object.entries(each).sort()) : each;
  });
}

/** Returns a value that is equal to `next`, and reuses each object of `last` that is equal at the same place. */
function keepEqual(last: unknown, next: unknown): unknown {
  if (textOf(last) === textOf(next)) return last;
  const known = Object(last);
  if (Array.isArray(next)) return next.map((value, i) => keepEqual(known[i], value));
  if (!isPlain(next)) return next;
  const kept = Object.entries(next).map(([name, value]) => [name, keepEqual(known[name], value)]);
  return Object.fromEntries(kept);
}

const isPlain = (value: unknown): value is object =>
  Object.prototype.toString.call(value) === '[object Object]';
