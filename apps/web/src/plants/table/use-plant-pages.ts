import type { StoredPlant } from '@plant-store/schemas';
import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTRPC } from '../../store/trpc.ts';
import type { PlantFilter } from '../plant-filter.ts';
import { emptyPageMap, knownRows, learnPage, pageAt, startOf } from './page-map.ts';
import type { RowRange } from './scroll-window.ts';

/** Plants in one request: few enough that reading the reply never takes a frame. */
const pageSize = 500;

/** Milliseconds for which a page outside of the screen stays in memory. */
const keepFor = 10_000;

/** Placeholders before the first page is there. */
const firstPlaceholders = 10;

/** Loads the pages of a list that the table shows, and the page after them. */
export function usePlantPages({ tag, from }: PlantFilter, visible: RowRange) {
  const trpc = useTRPC();
  const [map, setMap] = useState(() => emptyPageMap(from === undefined ? undefined : before(from)));

  const lastIndex = map.pages.length - (map.frontier ? 0 : 1);
  const firstWanted = Math.min(pageAt(map, visible.first), lastIndex);
  const lastWanted = Math.min(pageAt(map, visible.last) + 1, lastIndex);
  const wanted = Array.from({ length: lastWanted - firstWanted + 1 }, (_, i) => firstWanted + i);

  const replies = useQueries({
    queries: wanted.map((index) => {
      const after = startOf(map, index);
      return trpc.listPlants.queryOptions(
        {
          limit: pageSize,
          ...(tag !== undefined && { tag }),
          ...(after !== undefined && { after }),
        },
        { gcTime: keepFor },
      );
    }),
  });
  useEffect(() => {
    setMap((latest) =>
      replies.reduce((learnt, { data }, i) => {
        const index = firstWanted + i;
        // The map has lost this page since, so its reply is ignored.
        if (!data || index > learnt.pages.length || startOf(learnt, index) !== startOf(map, index))
          return learnt;
        return learnPage(learnt, index, { rowCount: data.plants.length, next: data.next });
      }, latest),
    );
  }, [replies, firstWanted, map]);

  const error = replies.find((reply) => reply.isError && !reply.data)?.error;
  const known = knownRows(map);
  const unknown = map.pages.length === 0 ? firstPlaceholders : 1;
  return {
    knownRows: known,
    /** Known rows, and placeholders for those behind them. */
    rowCount: known + (map.frontier ? unknown : 0),
    isComplete: map.frontier === undefined,
    error: error ?? undefined,
    /** The plant of a row; undefined while it is loaded. */
    plantAt(row: number): StoredPlant | undefined {
      const index = pageAt(map, row);
      const page = map.pages[index];
      return page && replies[index - firstWanted]?.data?.plants[row - page.firstRow];
    },
  };
}

/** The id before an id; undefined before the least int64. */
function before(id: bigint): bigint | undefined {
  return id === -(2n ** 63n) ? undefined : id - 1n;
}
