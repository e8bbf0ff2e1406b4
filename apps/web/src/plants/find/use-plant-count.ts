import { useQuery } from '@tanstack/react-query';
import { background, useTRPC } from '../../store/trpc.ts';

/**
 * Milliseconds after changes until the page asks for their number again. They are random, so that not all
 * pages count at once.
 */
const recountDelay = 5_000 * (1 + Math.random());

/** The number of plants, all or those with a tag. Between two responses, the page counts the changes itself. */
export function usePlantCount(tag: string | undefined) {
  const trpc = useTRPC();
  const { data, isStale } = useQuery(
    trpc.countPlants.queryOptions(tag === undefined ? {} : { tag }, {
      ...background,
      staleTime: Number.POSITIVE_INFINITY,
      refetchInterval: ({ state }) => state.isInvalidated && (state.error ? 1_000 : recountDelay),
    }),
  );
  return { data, isStale };
}
