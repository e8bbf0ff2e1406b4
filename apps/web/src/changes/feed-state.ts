import { type QueryClient, queryOptions, skipToken, useQuery } from '@tanstack/react-query';
import { refreshPlants } from '../store/query-client.ts';

/**
 * `live`: the console receives the changes of plants. `interrupted`: the console tries to connect to the feed
 * again. `off`: the console gets no changes. Before the first event, the state is undefined.
 */
type FeedState = 'live' | 'interrupted' | 'off';

const feed = queryOptions<FeedState>({ queryKey: ['feed'], queryFn: skipToken });

export function setFeedState(queryClient: QueryClient, state: FeedState): void {
  queryClient.setQueryData(feed.queryKey, state);
}

export function useFeedState(): FeedState | undefined {
  return useQuery(feed).data;
}

/**
 * Loads the plants again after the console has changed a plant. With a live feed, no request is necessary.
 */
export function refreshUnlessLive(queryClient: QueryClient): void {
  if (queryClient.getQueryData(feed.queryKey) !== 'live') void refreshPlants(queryClient);
}

/** Without a feed, loaded plants count as current for half a minute. With a feed, plants stay current. */
export function plantsStaleTime(queryClient: QueryClient): number {
  return queryClient.getQueryData(feed.queryKey) === 'off' ? 30_000 : Number.POSITIVE_INFINITY;
}
