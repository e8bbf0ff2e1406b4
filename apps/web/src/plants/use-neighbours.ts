import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { filterOf, type PlantFilter } from '../address/address.ts';
import { background, useTRPCClient } from '../store/trpc.ts';
import { findEarlierPage } from './earlier-page.ts';
import { listPage } from './list-page.ts';

/** A request that looks for the previous plant returns at most this number of plants. */
const limit = 16;

/** Returns the ids of the previous and the next plant in a list. */
export function useNeighbours(id: bigint, list: PlantFilter) {
  const client = useTRPCClient();
  const filter = filterOf(list);
  const load = (after: bigint | undefined, most: number) => {
    const input = { limit: most, ...filter, ...(after !== undefined && { after }) };
    return listPage(client, input, background.trpc);
  };
  const next = useQuery({
    queryKey: ['next plant', filter, id],
    queryFn: async () => (await load(id, 1)).plants[0]?.id ?? null,
    placeholderData: keepPreviousData,
  });
  const previous = useQuery({
    queryKey: ['previous plant', filter, id],
    queryFn: async () => {
      const page = (after: bigint | undefined) => load(after, limit);
      const { after, rowCount } = await findEarlierPage(page, id - 1n, BigInt(limit));
      return rowCount === 0 ? null : ((await page(after)).plants[rowCount - 1]?.id ?? null);
    },
    placeholderData: keepPreviousData,
  });
  return { previous: previous.data ?? undefined, next: next.data ?? undefined };
}
