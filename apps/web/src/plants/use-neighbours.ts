import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { background, useTRPCClient } from '../store/trpc.ts';
import { findEarlierPage } from './earlier-page.ts';

/** A request for the previous plant lists this number of plants. */
const limit = 16;

/** Returns the ids of the previous and the next plant. With a tag, both plants have this tag. */
export function useNeighbours(id: bigint, tag: string | undefined) {
  const client = useTRPCClient();
  const list = (after: bigint | undefined, most: number) =>
    client.listPlants.query(
      { limit: most, ...(tag !== undefined && { tag }), ...(after !== undefined && { after }) },
      background.trpc,
    );
  const next = useQuery({
    queryKey: ['next plant', tag, id],
    queryFn: async () => (await list(id, 1)).plants[0]?.id ?? null,
    placeholderData: keepPreviousData,
  });
  const previous = useQuery({
    queryKey: ['previous plant', tag, id],
    queryFn: async () => {
      const page = (after: bigint | undefined) => list(after, limit);
      const { after, rowCount } = await findEarlierPage(page, id - 1n, BigInt(limit));
      return rowCount === 0 ? null : ((await page(after)).plants[rowCount - 1]?.id ?? null);
    },
    placeholderData: keepPreviousData,
  });
  return { previous: previous.data ?? undefined, next: next.data ?? undefined };
}
