import { isRetryable } from '@plant-store/client';
import { defaultPageSize, readId, type StoredPlant } from '@plant-store/schemas';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, isError, queryClient, useIdentity } from '../../store.tsx';
import { type Address, useAddress } from '../../ui/address.ts';
import { refreshInterval, useListState } from '../plant-state.ts';

/** After this number of milliseconds, a search that has found a plant sends no further requests. */
const searchTime = 1_000;

/** The list offers at most this number of tags that begin with the text of a search. */
const mostTags = 2;

/** A page of plants. The next page begins after `next`. */
interface Found {
  readonly plants: readonly StoredPlant[];
  readonly next?: string | undefined;
  /** Existing tags that begin with the text of the search. */
  readonly tags?: readonly string[];
}

export type ListPage = ReturnType<typeof useListPage>;

/**
 * Loads the page of plants that the address names. Reloads a live page while the tab is visible. While the next
 * page loads, the previous page stays visible.
 */
export function useListPage() {
  const { may } = useIdentity();
  const { checked } = useListState();
  const { tag, search, after, plant } = useAddress();
  const isSearch = search !== undefined;
  // Rows that the user works with must not move, and each search costs several requests.
  const isLive = checked.size === 0 && plant === undefined && !isSearch;
  const { data, isPlaceholderData, error, dataUpdatedAt } = useQuery({
    queryKey: ['plants', { tag, search, after }],
    queryFn: (context): Promise<Found> =>
      isSearch
        ? findPlants({ tag, search, after }, context.signal)
        : client.listPlants.query({ tag, after }, { signal: context.signal }),
    enabled: may('plants:read'),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      (state.error ? isRetryable(state.error) : isLive) && refreshInterval,
    refetchOnWindowFocus: isLive,
    staleTime: isSearch ? 30_000 : 0,
  });
  const { plants = [], next, tags = [] } = data ?? {};
  const isLoaded = data !== undefined;
  const isWhole = isLoaded && !isSearch && after === undefined && next === undefined;
  const count = useQuery({
    // The console counts the plants again when the ids of the page's plants have changed.
    queryKey: ['count', tag, String(plants.map(({ id }) => id))],
    queryFn: ({ signal }) => client.countPlants.query({ tag }, { signal }),
    enabled: isLoaded && !isSearch && !isPlaceholderData && !isWhole,
    placeholderData: keepPreviousData,
  });
  return {
    plants,
    next: isPlaceholderData ? undefined : next,
    tags,
    isSearch,
    count: isWhole ? { count: plants.length, isExact: true } : count.data,
    isLoaded,
    /** Whether `plants` belong to the previous address, because the page of this address still loads. */
    isOld: isPlaceholderData,
    error,
    /** While the store does not respond, the time at which the shown page was loaded. */
    lostAt: error && data ? new Date(dataUpdatedAt) : undefined,
  };
}

/** Finds plants by name, the plant whose number is the search, and tags that begin with the search. */
async function findPlants(
  { tag, search, after }: Address & { search: string },
  signal: AbortSignal,
): Promise<Found> {
  const id = after === undefined ? readId(search).id : undefined;
  const [page, tagged, numbered] = await Promise.all([
    searchNames({ tag, search, after }, signal),
    client.countPlants.query({ tag: search }, { signal }),
    id === undefined ? undefined : findPlant(id, signal),
  ]);
  const others = page.plants.filter((plant) => plant.id !== numbered?.id);
  const known = knownTags(search).filter((each) => each !== search);
  const tags = [...(tagged.count > 0 ? [search] : []), ...known].slice(0, mostTags);
  return { plants: numbered ? [numbered, ...others] : others, next: page.next, tags };
}

/**
 * Searches the names. One request examines a limited number of plants, and may find few plants, so further
 * requests fill the page.
 */
async function searchNames({ after, ...filter }: Address, signal: AbortSignal): Promise<Found> {
  const end = performance.now() + searchTime;
  const plants: StoredPlant[] = [];
  let next = after;
  do {
    const limit = defaultPageSize - plants.length;
    const page = await client.listPlants.query({ ...filter, after: next, limit }, { signal });
    plants.push(...page.plants);
    next = page.next;
    if (plants.length > 0 && performance.now() > end) break;
  } while (next !== undefined && plants.length < defaultPageSize);
  return { plants, next };
}

function findPlant(id: bigint, signal: AbortSignal) {
  return client.getPlant.query({ id }, { signal }).catch((error) => {
    if (!isError(error, 'plantUnknown')) throw error;
  });
}

/** Searches the tags of the loaded plants for tags that begin with a text, in upper or lower case. */
function knownTags(text: string): string[] {
  const pages = queryClient.getQueriesData<Found>({ queryKey: ['plants'] });
  const tags = pages.flatMap(([, page]) => page?.plants.flatMap(({ tag }) => tag ?? []) ?? []);
  const start = text.toLowerCase();
  return [...new Set(tags)].filter((tag) => tag.toLowerCase().startsWith(start));
}
