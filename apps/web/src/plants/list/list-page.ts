import { isRetryable, type PlantStoreClient } from '@plant-store/client';
import { defaultPageSize, readIdText, type StoredPlant } from '@plant-store/schemas';
import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query';
import { isError } from '../../store/errors.tsx';
import { useClient } from '../../store/store.tsx';
import type { Address } from '../../ui/address.ts';
import { refreshInterval } from '../plant-state.ts';

/** A search looks for further plants of its page for at most this number of milliseconds. */
const searchTime = 1_000;

/** The list offers at most this number of tags that begin with the text of a search. */
const mostTags = 2;

/** A page of the list. The next page begins after `next`. */
interface ListedPage {
  readonly plants: readonly StoredPlant[];
  readonly next?: string | undefined;
  /** Existing tags that begin with the text of the search. */
  readonly tags?: readonly string[];
}

interface ListPageOptions {
  /** Whether the rows must stay where they are, for example because the user has checked some. */
  isPaused: boolean;
  isEnabled: boolean;
}

/**
 * Loads the page of plants that the address names, and keeps it current while the tab is visible. While the
 * next page loads, the page before stays.
 */
export function useListPage(address: Address, { isPaused, isEnabled }: ListPageOptions) {
  const { tag, search, after } = address;
  const client = useClient();
  // One search costs several requests, so the list does not repeat it by itself.
  const isLive = !isPaused && search === undefined;
  const { data, isPlaceholderData, error, dataUpdatedAt } = useQuery({
    queryKey: ['plants', { tag, search, after }],
    queryFn: ({ client: queryClient, signal }): Promise<ListedPage> =>
      search === undefined
        ? client.listPlants.query({ tag, after }, { signal })
        : findPlants({ tag, search, after }, { client, queryClient, signal }),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      (state.error ? isRetryable(state.error) : isLive) && refreshInterval,
    refetchOnWindowFocus: isLive,
    staleTime: search === undefined ? 0 : 30_000,
  });
  const { plants = [], next, tags = [] } = data ?? {};

  const isLoaded = data !== undefined;
  const isWhole = isLoaded && search === undefined && after === undefined && next === undefined;
  const count = useQuery({
    // The number of plants is worth a request only when the list has changed.
    queryKey: ['count', tag, String(plants.map(({ id }) => id))],
    queryFn: ({ signal }) => client.countPlants.query({ tag }, { signal }),
    enabled: isLoaded && search === undefined && !isPlaceholderData && !isWhole,
    placeholderData: keepPreviousData,
  });
  return {
    plants,
    next: isPlaceholderData ? undefined : next,
    /** The number of plants of the list, or undefined for a search. */
    count: isWhole ? { count: plants.length, isExact: true } : count.data,
    tags,
    isLoaded,
    /** Whether the page is for another address, because the page of this address still loads. */
    isOld: isPlaceholderData,
    error,
    /** When the store last sent the shown page, while it does not respond. */
    lostAt: error && data ? new Date(dataUpdatedAt) : undefined,
  };
}

interface Connection {
  client: PlantStoreClient;
  queryClient: QueryClient;
  signal: AbortSignal;
}

/** Finds plants by a part of the name, the plant with the number, and tags. */
async function findPlants(
  { tag, search = '', after }: Address,
  { client, queryClient, signal }: Connection,
): Promise<ListedPage> {
  const id = after === undefined ? readIdText(search) : undefined;
  const [page, numbered, tagged] = await Promise.all([
    searchNames({ tag, search, after }, client, signal),
    id === undefined ? undefined : findPlant(id, client, signal),
    client.countPlants.query({ tag: search }, { signal }),
  ]);
  const others = page.plants.filter((plant) => plant.id !== id || !numbered);
  const known = knownTags(queryClient, search).filter((each) => each !== search);
  const tags = [...(tagged.count > 0 ? [search] : []), ...known].slice(0, mostTags);
  return { plants: numbered ? [numbered, ...others] : others, next: page.next, tags };
}

/**
 * Searches the names. One request looks at a limited number of plants, and may find few or none, so further
 * requests fill the page.
 */
async function searchNames(
  { tag, search, after }: Address,
  client: PlantStoreClient,
  signal: AbortSignal,
): Promise<ListedPage> {
  const end = performance.now() + searchTime;
  const plants: StoredPlant[] = [];
  let next = after;
  do {
    const input = { tag, search, after: next, limit: defaultPageSize - plants.length };
    const page = await client.listPlants.query(input, { signal });
    plants.push(...page.plants);
    next = page.next;
    if (plants.length > 0 && performance.now() > end) break;
  } while (next !== undefined && plants.length < defaultPageSize);
  return { plants, next };
}

async function findPlant(id: bigint, client: PlantStoreClient, signal: AbortSignal) {
  try {
    return await client.getPlant.query({ id }, { signal });
  } catch (error) {
    if (isError(error, 'plantUnknown')) return undefined;
    throw error;
  }
}

/** Returns tags of loaded plants that begin with a text, in upper or lower case. */
function knownTags(queryClient: QueryClient, text: string): string[] {
  const pages = queryClient.getQueriesData<ListedPage>({ queryKey: ['plants'] });
  const tags = pages.flatMap(([, page]) => page?.plants.flatMap(({ tag }) => tag ?? []) ?? []);
  const start = text.toLowerCase();
  return [...new Set(tags)].filter((tag) => tag.toLowerCase().startsWith(start));
}
