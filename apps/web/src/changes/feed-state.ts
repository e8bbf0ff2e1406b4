import { type QueryClient, queryOptions, skipToken, useQuery } from '@tanstack/react-query';
import { refreshPlants } from '../store/query-client.ts';

/**
 * `live`: the page follows the feed of changes. `interrupted`: an error that may pass interrupts the feed.
 * `off`: the store has no feed. The state is undefined before the first event.
 */
type FeedState = 'live' | 'interrupted' | 'off';

const feed = queryOptions<FeedState>({ queryKey: ['feed'], queryFn: skipToken });

export function setFeedState(queryClient: QueryClient, state: FeedState): void {
  queryClient.setQueryData(feed.queryKey, state);
}

export function useFeedState(): FeedState | undefined {
  return useQuery(feed).data;
}

/** Loads the plants again after the page has changed a plant. A live feed makes the request unnecessary. */
export function refreshUnlessLive(queryClient: QueryClient): void {
  if (queryClient.getQueryData(feed.queryKey) !== 'live') void refreshPlants(queryClient);
}

/** Loaded plants count as current for this number of milliseconds. With a feed, plants stay current. */
export function plantsStaleTime(queryClient: QueryClient): number {
  return queryClient.getQueryData(feed.queryKey) === 'off' ? 30_000 : Number.POSITIVE_INFINITY;
}
