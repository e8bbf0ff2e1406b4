import { type QueryClient, queryOptions, skipToken, useQuery } from '@tanstack/react-query';
import { refreshPlants } from '../store/query-client.ts';

/**
 * Whether the page follows the feed of changes: `live`, `interrupted` by an error that may pass, or `off`
 * where the store has no feed. It is undefined before the first event.
 */
type FeedState = 'live' | 'interrupted' | 'off';

const feed = queryOptions<FeedState>({ queryKey: ['feed'], queryFn: skipToken });

export function setFeedState(queryClient: QueryClient, state: FeedState): void {
  queryClient.setQueryData(feed.queryKey, state);
}

export function useFeedState(): FeedState | undefined {
  return useQuery(feed).data;
}

/** Loads the plants again after a change of this page, unless the feed brings the change. */
export function refreshUnlessLive(queryClient: QueryClient): void {
  if (queryClient.getQueryData(feed.queryKey) !== 'live') void refreshPlants(queryClient);
}

/** Milliseconds for which loaded plants count as current. The feed keeps them current. */
export function plantsStaleTime(queryClient: QueryClient): number {
  return queryClient.getQueryData(feed.queryKey) === 'off' ? 30_000 : Number.POSITIVE_INFINITY;
}
