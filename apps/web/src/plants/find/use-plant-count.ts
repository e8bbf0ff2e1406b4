import { useQuery } from '@tanstack/react-query';
import { background, useTRPC } from '../../store/trpc.ts';

/**
 * After a change, the console waits for this number of milliseconds before it asks for the number of plants
 * again. The delay is random, so that different browsers ask at different times.
 */
const recountDelay = 5_000 * (1 + Math.random());

/** Returns the number of all plants, or of the plants with a tag. The feed updates the number. */
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
