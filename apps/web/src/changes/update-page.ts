import type { PlantChange } from '@plant-store/schemas';
import type { Query, QueryClient } from '@tanstack/react-query';
import { changePage, countChange, mayLackPlants, type PageQuery } from './change-page.ts';

/** When new plants make a page longer than this number of rows, the console loads the page again. */
const maxRows = 5_000;

/** The console highlights a new plant for this number of milliseconds, which plant-table.css repeats. */
const highlightTime = 2_000;

const highlighted = new Set<bigint>();
const listeners = new Set<(changes: readonly PlantChange[]) => void>();

export function isNew(id: bigint): boolean {
  return highlighted.has(id);
}

/** Calls the listener after each update of the plants. Returns a function that removes the listener. */
export function onChanges(listener: (changes: readonly PlantChange[]) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Loads a page of plants, and applies the updates that happen during the request. The response may be older
 * than these changes.
 */
export async function loadPage<Page extends Parameters<typeof changePage>[0]>(
  query: PageQuery,
  load: () => Promise<Page>,
): Promise<Page> {
  const changes: PlantChange[] = [];
  const stop = onChanges((latest) => changes.push(...latest));
  try {
    const page = await load();
    return { ...page, ...changePage(page, query, changes) };
  } finally {
    stop();
  }
}

/** Applies changes to all responses in the cache, and highlights new plants. */
export function updatePage(queryClient: QueryClient, changes: readonly PlantChange[]): void {
  const created = changes.filter(({ type }) => type === 'created').map(({ plant }) => plant.id);
  for (const id of created) highlighted.add(id);
  setTimeout(() => {
    for (const id of created) highlighted.delete(id);
  }, highlightTime);
  for (const query of queryClient.getQueryCache().getAll()) {
    updaters[String(query.queryKey[0])]?.(queryClient, query, changes);
  }
  for (const notify of listeners) notify(changes);
}

type Updater = (queryClient: QueryClient, query: Query, changes: readonly PlantChange[]) => void;

/** Functions that apply changes to a loaded response. Each name is the start of a query key. */
const updaters: Readonly<Record<string, Updater>> = {
  listPlants(queryClient, query, changes) {
    // The cast is safe, because a query of `listPlants` contains a page of plants.
    const page = query.state.data as Parameters<typeof changePage>[0] | undefined;
    const input = inputOf(query);
    const isUnclear = mayLackPlants(page ?? { plants: [] }, input, changes);
    const changed = page && changePage(page, input, changes);
    const isTooLong = changed && changed.plants.length > maxRows;
    if (changed !== page && !isTooLong) queryClient.setQueryData(query.queryKey, changed);
    if (isTooLong || isUnclear) void loadAgain(queryClient, query);
  },
  countPlants(queryClient, { queryKey, ...query }, changes) {
    const { count, isExact } = Object(query.state.data);
    const change = countChange(inputOf({ queryKey }).tag, changes);
    if (!isExact || change === 0) return;
    queryClient.setQueryData(queryKey, { count: Math.max(0, count + change), isExact });
    // The number from the store may already include this change, so the console asks the store again later.
    void queryClient.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
  },
  getPlant(queryClient, { queryKey }, changes) {
    const { id } = inputOf({ queryKey });
    const isConcerned = changes.some(({ plant }) => plant.id === id);
    if (isConcerned) void queryClient.invalidateQueries({ queryKey, exact: true });
  },
  'next plant': updateNeighbour,
  'previous plant': updateNeighbour,
};

/** Waits for the running request of a query, which may miss a change, and then repeats the query. */
async function loadAgain(queryClient: QueryClient, { queryKey, promise }: Query): Promise<void> {
  await promise?.catch(() => {});
  await queryClient.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
}

/** Loads the next or the previous plant again when a change is between this plant and the open plant. */
function updateNeighbour(
  queryClient: QueryClient,
  { queryKey, state }: Query,
  changes: readonly PlantChange[],
): void {
  // The cast is safe, because use-neighbours.ts makes the query keys with this type.
  const [name, , open] = queryKey as [string, PageQuery, bigint];
  const neighbour = state.data as bigint | null | undefined;
  const isConcerned = changes.some(({ plant: { id } }) =>
    name === 'next plant'
      ? id > open && id <= (neighbour ?? id)
      : id < open && id >= (neighbour ?? id),
  );
  if (isConcerned) void queryClient.invalidateQueries({ queryKey, exact: true });
}

/** Returns the input of a request. tRPC stores the input in the query key. */
function inputOf({ queryKey }: Pick<Query, 'queryKey'>): PageQuery & { id?: bigint } {
  return Object(Object(queryKey[1]).input);
}
