import { isRetryable, queryDefaults } from '@plant-store/client';
import {
  MutationCache,
  type Query,
  QueryCache,
  QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import { isScopeError, isTokenError } from './explain-error.ts';
import { baseUrl } from './trpc.ts';

/** While the server is down, the console sends a query again after this number of milliseconds. */
const retryInterval = 1_000;

/** Makes the cache of the store's responses. `onTokenError` runs when the store rejects the token. */
export function createQueryClient(onTokenError: (error: unknown) => void): QueryClient {
  const onError = (error: unknown) => {
    if (isTokenError(error)) onTokenError(error);
    if (isScopeError(error)) void queryClient.invalidateQueries({ queryKey: [['whoAmI']] });
    if (isRetryable(error)) {
      void queryClient.invalidateQueries({ queryKey: serverState.queryKey });
    }
  };
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        ...queryDefaults,
        // Even without a network, the browser can reach a server on the same machine.
        networkMode: 'always',
        refetchInterval: ({ state }) => isRetryable(state.error) && retryInterval,
        staleTime: 30_000,
      },
      mutations: { networkMode: 'always' },
    },
  });
  return queryClient;
}

/** Loads the shown plants and the number of plants again. */
export async function refreshPlants(queryClient: QueryClient): Promise<void> {
  const names = ['listPlants', 'countPlants', 'next plant', 'previous plant'];
  const filters = { predicate: ({ queryKey }: Query) => names.includes(String(queryKey[0])) };
  // The response to a running request may lack a change, but React Query does not repeat the first request
  // of a query while this request runs. So the function first waits until all first requests have ended.
  const queries = queryClient.getQueryCache().findAll(filters);
  const first = queries.map(({ state, promise }) => state.data === undefined && promise);
  await Promise.allSettled(first);
  await queryClient.invalidateQueries(filters);
}

/** The number of milliseconds between two checks while the server is up, and while the server is down. */
const interval = { up: 10_000, down: 1_000 };

/** Without a response after this number of milliseconds, the server counts as down. */
const timeLimit = 10_000;

/** Asks whether the server and its database are ready. */
export const serverState = queryOptions({
  queryKey: ['readyz'],
  async queryFn({ signal }) {
    const response = await fetch(new URL('readyz', baseUrl()), {
      // On a dead connection, a browser would wait for minutes.
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeLimit)]),
      cache: 'no-store',
    });
    if (!response.ok) throw new Error(`the server responded with ${response.status}`);
    return 'ready';
  },
  refetchInterval: ({ state }) => (state.status === 'error' ? interval.down : interval.up),
});
