import type { PlantChange } from '@plant-store/schemas';
import type { Query, QueryClient } from '@tanstack/react-query';
import { changePage, countChange, type PageQuery } from './change-page.ts';

/** Rows of a page beyond which it is loaded again, so that it does not grow without end. */
const maxRows = 5_000;

/** The changes that arrived during each request for plants. */
const requests = new Set<PlantChange[]>();

/** Milliseconds for which a new plant is highlighted, as in plant-table.css. */
const highlightTime = 2_000;

const highlighted = new Set<bigint>();
const listeners = new Set<(changes: readonly PlantChange[]) => void>();

/** Whether a plant was created so recently that its row is highlighted. */
export function isNew(id: bigint): boolean {
  return highlighted.has(id);
}

/** Calls the listener after changes; returns a function that removes the listener. */
export function onChanges(listener: (changes: readonly PlantChange[]) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Loads a page of plants, and applies the changes that arrive meanwhile, because the response may be older
 * than these changes.
 */
export async function loadPage<Page extends Parameters<typeof changePage>[0]>(
  query: PageQuery,
  load: () => Promise<Page>,
): Promise<Page> {
  const changes: PlantChange[] = [];
  requests.add(changes);
  try {
    const page = await load();
    return { ...page, ...changePage(page, query, changes) };
  } finally {
    requests.delete(changes);
  }
}

/** Keeps changes for the responses that are on their way. */
export function noteChanges(changes: readonly PlantChange[]): void {
  for (const request of requests) request.push(...changes);
}

/** Shows changes in everything that the page has loaded. */
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

/** How changes update a loaded response, by the start of its query key. */
const updaters: Readonly<Record<string, Updater>> = {
  listPlants(queryClient, query, changes) {
    const page = query.state.data as Parameters<typeof changePage>[0] | undefined; // The response of listPlants.
    if (!page) return;
    const changed = changePage(page, inputOf(query), changes);
    if (changed.plants.length > maxRows) {
      const filter = { queryKey: query.queryKey, exact: true };
      void queryClient.invalidateQueries(filter, { cancelRefetch: false });
    } else if (changed !== page) queryClient.setQueryData(query.queryKey, changed);
  },
  countPlants(queryClient, { queryKey, ...query }, changes) {
    const { count, isExact } = Object(query.state.data);
    const change = countChange(inputOf({ queryKey }).tag, changes);
    if (!isExact || change === 0) return;
    queryClient.setQueryData(queryKey, { count: Math.max(0, count + change), isExact });
    // The response may have counted a change already, so the page asks again later.
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

/** Looks for the neighbour again when a plant came or went between it and the open plant. */
function updateNeighbour(
  queryClient: QueryClient,
  { queryKey, state }: Query,
  changes: readonly PlantChange[],
): void {
  const [name, , open] = queryKey as [string, string | undefined, bigint]; // As in use-neighbours.ts.
  const neighbour = state.data as bigint | null | undefined;
  const isConcerned = changes.some(({ plant: { id } }) =>
    name === 'next plant'
      ? id > open && id <= (neighbour ?? id)
      : id < open && id >= (neighbour ?? id),
  );
  if (isConcerned) void queryClient.invalidateQueries({ queryKey, exact: true });
}

/** The input of a call, which tRPC keeps in the query key. */
function inputOf({ queryKey }: Pick<Query, 'queryKey'>): PageQuery & { id?: bigint } {
  return Object(Object(queryKey[1]).input);
}
