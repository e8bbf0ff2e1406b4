import { useQuery } from '@tanstack/react-query';
import { background, useTRPC } from '../../store/trpc.ts';

/**
 * After changes, the page asks for the number of plants again after this number of milliseconds. It is
 * random, so that not all pages ask at the same time.
 */
const recountDelay = 5_000 * (1 + Math.random());

/**
 * Returns the number of all plants, or of the plants with a tag. Between two responses, the page counts the
 * changes itself.
 */
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
