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

/** Loads the plants again after the console has changed a plant, unless the feed sends the change. */
export function refreshUnlessLive(queryClient: QueryClient): void {
  if (queryClient.getQueryData(feed.queryKey) !== 'live') void refreshPlants(queryClient);
}

/** Returns for how many milliseconds loaded plants are current. A feed keeps the plants current. */
export function plantsStaleTime(queryClient: QueryClient): number {
  return queryClient.getQueryData(feed.queryKey) === 'off' ? 30_000 : Number.POSITIVE_INFINITY;
}
