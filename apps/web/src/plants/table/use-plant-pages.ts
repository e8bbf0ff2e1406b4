import type { StoredPlant } from '@plant-store/schemas';
import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filterOf, type PlantFilter } from '../../address/address.ts';
import { plantsStaleTime } from '../../changes/feed-state.ts';
import { loadPage } from '../../changes/update-page.ts';
import { background, useTRPC, useTRPCClient } from '../../store/trpc.ts';
import { findEarlierPage, findLastId, likelyDistance } from '../earlier-page.ts';
import { listPage } from '../list-page.ts';
import {
  emptyPageMap,
  endRow,
  firstRow,
  learnEarlierPage,
  learnPage,
  type PageMap,
  pageAt,
  startOf,
} from './page-map.ts';
import type { RowRange } from './scroll-window.ts';

/** The number of plants in one response. The browser parses a response in less than one frame. */
const pageSize = 500;

/** A page of plants that is not on the screen stays in memory for this number of milliseconds. */
const keepFor = 10_000;

/**
 * The table has `earlier` placeholder rows before the known rows. Until the first response, the table has
 * `firstPage` placeholder rows.
 */
const placeholders = { earlier: 10, firstPage: 100 };

/** The table loads an earlier page when fewer known rows than this number are above the screen. */
const margin = 50;

/** Summarizes the plants that the table has found so far. */
export interface FoundPlants {
  readonly count: number;
  readonly more: 'none' | 'looking' | 'unknown';
  readonly first: StoredPlant | undefined;
}

/** The loaded pages that the screen shows, and the position of these pages in the list. */
interface ShownPages {
  readonly map: PageMap;
  readonly firstIndex: number;
  readonly pages: readonly ({ readonly plants: readonly StoredPlant[] } | undefined)[];
}

interface PlantPagesOptions {
  filter: PlantFilter;
  /**
   * The id at which the list is opened. Row 0 has the plant with this id, or else the plant with the next
   * greater id.
   */
  at: bigint | undefined;
  visible: RowRange;
  /** The row under the pointer. */
  hovered: number | undefined;
}

/** Loads the pages of plants that are on the screen, and the neighbouring pages. */
export function usePlantPages({ filter, at, visible, hovered }: PlantPagesOptions) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const [map, setMap] = useState(() => emptyPageMap(at === undefined ? undefined : before(at)));
  /** The rows of the latest render. */
  const [shown, setShown] = useState<ShownPages>({ map, firstIndex: 0, pages: [] });

  const pageAfter = (after: bigint | undefined, options?: typeof background.trpc) => {
    const input = {
      limit: pageSize,
      ...filterOf(filter),
      ...(after !== undefined && { after }),
    };
    return queryOptions({
      queryKey: trpc.listPlants.queryKey(input),
      queryFn(query) {
        // The signal ends a long search when no view shows the plants any longer.
        const signal = filter.search !== undefined && { signal: query.signal };
        return loadPage(input, () => listPage(client, input, { ...options, ...signal }));
      },
      staleTime: () => plantsStaleTime(queryClient),
      gcTime: keepFor,
    });
  };
  const lastIndex = map.pages.length - (map.frontier ? 0 : 1);
  const firstWanted = Math.min(pageAt(map, visible.first), lastIndex);
  const lastWanted = Math.min(pageAt(map, visible.last) + 1, lastIndex);
  const wanted = Array.from({ length: lastWanted - firstWanted + 1 }, (_, i) => firstWanted + i);

  const responses = useQueries({ queries: wanted.map((index) => pageAfter(startOf(map, index))) });
  const loaded = responses.map(({ data }) => data);
  const isHovered = hovered !== undefined && hovered >= visible.first && hovered <= visible.last;
  const row = isHovered ? hovered : visible.first;
  const id = plantOf(shown)(row)?.id;
  // At the start of the list, new plants push the other plants down.
  const isAtStart = startOf(map, 0) === undefined && visible.first <= firstRow(map);
  const isFree = id === undefined || (isAtStart && !isHovered);
  const anchor = isFree ? undefined : { row, id };
  const learnt = responses.reduce((latest, { data }, i) => {
    const index = firstWanted + i;
    // Ignores the response of a page that the map no longer has, or that now begins after another id.
    if (!data || index > latest.pages.length || startOf(latest, index) !== startOf(map, index))
      return latest;
    return learnPage(latest, index, data, anchor);
  }, map);
  // The map changes during the render, so that no frame shows plants in wrong rows.
  if (learnt !== map) setMap(learnt);
  const latest = { map: learnt, firstIndex: firstWanted, pages: loaded };
  if (!isSame(shown, latest)) setShown(latest);
  const plantAt = plantOf(latest);

  const [first, end, start] = [firstRow(map), endRow(map), startOf(map, 0)];
  const { data: earlier } = useQuery({
    queryKey: ['earlier page', filterOf(filter), start],
    queryFn: () =>
      findEarlierPage(
        (after) => queryClient.fetchQuery(pageAfter(after, background.trpc)),
        start ?? 0n,
        likelyDistance(responses[0]?.data?.plants ?? [], pageSize),
      ),
    enabled: start !== undefined && map.pages.length > 0 && visible.first < first + margin,
    gcTime: 0,
  });
  if (earlier && learnt === map) setMap(learnEarlierPage(map, earlier));

  const error = responses.find((response) => response.isError && !response.data)?.error;
  const isLooking = map.frontier !== undefined && lastWanted === map.pages.length && !error;
  const isWhole = map.frontier === undefined && start === undefined;
  const more = isLooking ? 'looking' : isWhole ? 'none' : 'unknown';
  const isFirstPage = map.pages.length === 0;
  const unknown = isFirstPage ? placeholders.firstPage : 1;
  return {
    /** The known rows. */
    known: { first, end },
    /** The known rows and the placeholder rows. */
    rows: {
      first: start === undefined ? first : first - placeholders.earlier,
      end: end + (map.frontier ? unknown : 0),
    },
    /** Whether the start and the end of the list are known. */
    ends: { start: start === undefined, end: map.frontier === undefined },
    /** Whether all rows of the list are known. */
    isComplete: isWhole,
    found: { count: end - first, more, first: plantAt(first) } satisfies FoundPlants,
    error: error ?? undefined,
    /** Returns the plant of a row, or undefined while the plant is loading. */
    plantAt,
    /** Returns the row of a plant, or undefined when the plant is not loaded. */
    rowOf(id: bigint): number | undefined {
      for (const [i, { data }] of responses.entries()) {
        const page = map.pages[firstWanted + i];
        const place = data?.plants.findIndex((plant) => plant.id === id) ?? -1;
        if (page && place >= 0 && place < page.rowCount) return page.firstRow + place;
      }
      return undefined;
    },
    /** Finds the id of the last plant in the list. */
    lastId: () =>
      findLastId(
        (after) => queryClient.fetchQuery(pageAfter(after, background.trpc)),
        map.frontier?.after ?? 0n,
        likelyDistance(responses[0]?.data?.plants ?? [], pageSize),
      ),
    /** Loads the plants of all known rows between two rows. */
    async plantsBetween(from: number, to: number): Promise<StoredPlant[]> {
      const found: StoredPlant[] = [];
      for (let index = pageAt(map, from); index <= pageAt(map, to); index++) {
        const page = map.pages[index];
        if (!page) break;
        const { plants } = await queryClient.ensureQueryData(pageAfter(page.after));
        const start = Math.max(0, from - page.firstRow);
        const count = Math.min(page.rowCount, to - page.firstRow + 1);
        found.push(...plants.slice(start, count));
      }
      return found;
    },
  };
}

/** Makes a function that finds the plant of a row. */
function plantOf({ map, firstIndex, pages }: ShownPages) {
  return (row: number): StoredPlant | undefined => {
    const index = pageAt(map, row);
    const page = map.pages[index];
    return page && pages[index - firstIndex]?.plants[row - page.firstRow];
  };
}

function isSame(one: ShownPages, other: ShownPages): boolean {
  const { map, firstIndex, pages } = other;
  const isSamePlace = one.map === map && one.firstIndex === firstIndex;
  return (
    isSamePlace &&
    one.pages.length === pages.length &&
    pages.every((page, i) => page === one.pages[i])
  );
}

/** Returns an id minus one, or undefined for the smallest int64. */
function before(id: bigint): bigint | undefined {
  return id === -(2n ** 63n) ? undefined : id - 1n;
}
