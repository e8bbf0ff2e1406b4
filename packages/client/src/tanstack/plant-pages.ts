import type { PlantQuery, StoredPlant } from '../all-plants.ts';
import { followAgain, followChanges, type PlantChanges } from '../follow-changes.ts';
import type { PlantStoreClient } from '../plant-store-client.ts';
import { hashQueryKey } from './query-defaults.ts';

/** Selects plants by the parameters of `listPlants`. A page has at most `limit` plants. */
export type PlantPagesQuery = Omit<Exclude<PlantQuery, void>, 'after'>;

/** A page of plants. On the last page, `next` is absent. */
export interface PlantPage {
  plants: StoredPlant[];
  next?: string | undefined;
}

type Changes = PlantChanges['changes'];

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

export interface FollowPlantPagesOptions extends PlantPagesQuery {
  /** Receives the error that ends the updates. Pass this error to `plantStoreError`. */
  onError?: (error: unknown) => void;
}

/** The methods of TanStack Query's `QueryClient` that `followPlantPages` calls. */
interface QueryClient {
  invalidateQueries(filters: {
    queryKey: readonly unknown[];
    exact: true;
    refetchType?: 'none';
  }): unknown;
  getQueryState(queryKey: readonly unknown[]): QueryState | undefined;
  setQueryData(queryKey: readonly unknown[], update: (pages?: Pages) => Pages | undefined): unknown;
  getQueryCache(): { subscribe(listener: (event: CacheEvent) => void): () => void };
}

interface QueryState {
  data: unknown;
  fetchStatus: string;
  isInvalidated: boolean;
}

interface CacheEvent {
  query: { queryKey: readonly unknown[]; state: QueryState };
  action?: { type: string };
}

interface Pages {
  pages: PlantPage[];
  pageParams: (string | undefined)[];
}

/**
 * Applies each change of the store to the loaded pages of `plantPages`, without loading the pages again. Pass
 * the same query to `plantPages` and to `followPlantPages`.
 *
 * @returns a function that ends the updates
 */
export function followPlantPages(
  client: Pick<PlantStoreClient, 'listPlants' | 'listPlantChanges'>,
  queryClient: QueryClient,
  { onError, ...query }: FollowPlantPagesOptions = {},
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const { queryKey } = plantPages(client, query);
  const hash = hashQueryKey(queryKey);
  const find = { queryKey, exact: true } as const;
  const loadAgain = () => void queryClient.invalidateQueries(find);
  const isLoading = (state?: QueryState) => state !== undefined && state.fetchStatus !== 'idle';
  function apply(changes: Changes): void {
    const isInvalidated = queryClient.getQueryState(queryKey)?.isInvalidated;
    queryClient.setQueryData(queryKey, (data) => data && changePages(data, query, changes));
    // `setQueryData` marks the pages as valid, but the pages still lack older changes.
    if (isInvalidated) void queryClient.invalidateQueries({ ...find, refetchType: 'none' });
  }
  /** The changes that have arrived since the running load of the pages began. */
  let recent: Changes = [];
  /** Whether the running load began before the first cursor was read, so that it may lack changes. */
  let isLoadOld = false;
  const unsubscribe = queryClient.getQueryCache().subscribe((event) => {
    const { queryKey, state } = event.query;
    if (!event.action || hashQueryKey(queryKey) !== hash) return;
    if (event.action.type === 'fetch') recent = [];
    if (isLoading(state)) return;
    // The pages that a load returns may lack the changes that arrived during the load.
    const [lacking, wasOld] = [recent, isLoadOld];
    recent = [];
    isLoadOld = false;
    if (lacking.length > 0) apply(lacking);
    if (wasOld) loadAgain();
  });
  async function follow(onLive: () => void): Promise<void> {
    let isFirst = true;
    for await (const { changes } of followChanges(client, { signal })) {
      const state = queryClient.getQueryState(queryKey);
      // The loaded pages may be older than the first cursor, so TanStack Query loads the pages again.
      if (isFirst) {
        // TanStack Query does not repeat the very first load while this load is running.
        isLoadOld = isLoading(state) && state?.data === undefined;
        loadAgain();
      }
      isFirst = false;
      onLive();
      if (isLoading(state)) recent.push(...changes);
      apply(changes);
    }
  }
  followAgain(follow, signal, onError);
  return () => {
    unsubscribe();
    stopped.abort();
  };
}

function changePages(data: Pages, query: PlantPagesQuery, changes: Changes): Pages {
  const pages = data.pages.map((page, i) => changePage(page, data.pageParams[i], query, changes));
  return pages.some((page, i) => page !== data.pages[i]) ? { ...data, pages } : data;
}

/** Applies changes to the page after the id `after`. Returns the same object if the page does not change. */
function changePage(
  page: PlantPage,
  after: string | undefined,
  { tag, search }: PlantPagesQuery,
  changes: Changes,
): PlantPage {
  const plants = new Map(page.plants.map((plant) => [plant.id, plant]));
  let isChanged = false;
  for (const { type, plant } of changes) {
    const { id, name } = plant;
    // The digits of an id are a cursor of the list.
    const isBefore = after !== undefined && id <= BigInt(after);
    if (isBefore || (page.next !== undefined && id > BigInt(page.next))) continue;
    const isListed =
      type !== 'deleted' &&
      (tag === undefined || plant.tag === tag) &&
      wordsOf(search).every((word) => name.toLowerCase().includes(word));
    const known = plants.get(id);
    const isKnown =
      known &&
      +known.createdAt === +plant.createdAt &&
      Number(known.updatedAt) === Number(plant.updatedAt);
    if (isListed ? isKnown : !known) continue;
    isChanged = true;
    if (isListed) plants.set(id, plant);
    else plants.delete(id);
  }
  if (!isChanged) return page;
  return { ...page, plants: [...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** A search finds the plants whose names contain each of its words. */
function wordsOf(search = ''): string[] {
  return search.toLowerCase().split(/\s+/).filter(Boolean);
}
