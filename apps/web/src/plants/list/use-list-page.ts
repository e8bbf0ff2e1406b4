import { isRetryable } from '@plant-store/client';
import type { StoredPlant } from '@plant-store/schemas';
import { readIdText } from '@plant-store/schemas/plain';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useClient } from '../../store/store.tsx';
import type { Address } from '../../ui/address.ts';
import { knownTags, loadPage, plantQuery, refreshInterval } from '../plant-queries.ts';

/** The list offers at most this number of tags that begin with the text of a search. */
const mostTags = 2;

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
  const queryClient = useQueryClient();
  // One search costs several requests, so the list does not repeat it by itself.
  const isLive = !isPaused && search === undefined;
  const page = useQuery({
    queryKey: ['plants', { tag, search, after }],
    queryFn: ({ signal }) => loadPage(client, { tag, search, after }, signal),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) =>
      (error ? isRetryable(error) : isLive) && refreshInterval,
    refetchOnWindowFocus: isLive,
    staleTime: search === undefined ? 0 : 30_000,
  });
  const { data, isPlaceholderData, error, dataUpdatedAt } = page;

  const isWhole = search === undefined && after === undefined && data && data.next === undefined;
  const count = useQuery({
    queryKey: ['count', tag],
    queryFn: ({ signal }) =>
      client.countPlants.query({ ...(tag !== undefined && { tag }) }, { signal }),
    enabled: isEnabled && search === undefined && data !== undefined && !isWhole,
    refetchOnWindowFocus: isLive,
    staleTime: 10_000,
    placeholderData: keepPreviousData,
  });
  useEffect(() => {
    // The number of plants is worth a request only when the list has changed.
    if (data && !isPlaceholderData)
      void queryClient.invalidateQueries({ queryKey: ['count', tag] });
  }, [queryClient, data, isPlaceholderData, tag]);

  const id = after === undefined ? readIdText(search ?? '') : undefined;
  const byNumber = useQuery({
    ...plantQuery(client, id ?? 0n),
    enabled: isEnabled && id !== undefined,
    staleTime: 3_000,
  });
  const numbered = id !== undefined && byNumber.isSuccess ? byNumber.data : undefined;
  const plants = useMemo(() => {
    const found = data?.plants ?? [];
    return numbered ? [numbered, ...found.filter((plant) => plant.id !== numbered.id)] : found;
  }, [data, numbered]);
  return {
    plants,
    next: isPlaceholderData ? undefined : data?.next,
    /** The number of plants of the list, or undefined for a search. */
    count: isWhole ? { count: plants.length, isExact: true } : count.data,
    tags: useTagsOf(search),
    isLoaded: data !== undefined,
    /** Whether the page is for another address, because the page of this address still loads. */
    isOld: isPlaceholderData,
    error,
    /** When the store last sent the shown page, while it does not respond. */
    lostAt: error && data ? new Date(dataUpdatedAt) : undefined,
  };
}

/** Returns existing tags that begin with the text of a search. */
function useTagsOf(search: string | undefined): readonly string[] {
  const client = useClient();
  const queryClient = useQueryClient();
  const { data: typed } = useQuery({
    queryKey: ['count', search, 'tag'],
    queryFn: ({ signal }) => client.countPlants.query({ tag: search ?? '' }, { signal }),
    enabled: search !== undefined,
    staleTime: 30_000,
  });
  if (search === undefined) return [];
  const isTag = typed !== undefined && typed.count > 0;
  const known = knownTags(queryClient, search).filter((tag) => tag !== search);
  return [...(isTag ? [search] : []), ...known].slice(0, mostTags);
}

/** Returns the ids of plants that were not in the list when it was last the same list. */
export function useNewIds(list: string, plants: readonly StoredPlant[]): ReadonlySet<bigint> {
  const [known, setKnown] = useState({ list, plants, added: new Set<bigint>() });
  if (known.plants === plants && known.list === list) return known.added;
  const before = new Set(known.plants.map(({ id }) => id));
  const isSameList = known.list === list && before.size > 0;
  const added = plants.flatMap(({ id }) => (isSameList && !before.has(id) ? [id] : []));
  const next = { list, plants, added: new Set(added) };
  // The set changes during the render, so that a new row is tinted from its first frame.
  setKnown(next);
  return next.added;
}
