import { formatJson } from '@plant-store/schemas';
import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { isScopeError, isTemporary, isTokenError } from './explain-error.ts';
import { baseUrl } from './trpc.ts';

/** Milliseconds before a query asks again when the server is away. */
const retryInterval = 1_000;

/**
 * Makes the cache of the store's replies.
 *
 * @param onTokenError is called when the store stops accepting the access token
 */
export function createQueryClient(onTokenError: (error: unknown) => void): QueryClient {
  const onError = (error: unknown) => {
    if (isTokenError(error)) onTokenError(error);
    if (isScopeError(error)) void queryClient.invalidateQueries({ queryKey: [['whoAmI']] });
    if (isTemporary(error)) {
      void queryClient.invalidateQueries({ queryKey: serverState.queryKey });
    }
  };
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // The keys have ids in them, which JSON.stringify cannot write.
        queryKeyHashFn: formatJson,
        // The server may be on this machine, which a browser without a network still reaches.
        networkMode: 'always',
        retry: false,
        refetchInterval: ({ state }) => isTemporary(state.error) && retryInterval,
        staleTime: 30_000,
      },
      mutations: { networkMode: 'always' },
    },
  });
  return queryClient;
}

/** Asks again for the plants that the page shows, and for their number. */
export function refreshPlants(queryClient: QueryClient): void {
  for (const procedure of ['listPlants', 'countPlants', 'next plant', 'previous plant']) {
    void queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) => String(name) === procedure,
    });
  }
}

/** Milliseconds between two checks while the server answers, and while it does not. */
const interval = { up: 10_000, away: 1_000 };

/** Asks whether the server and its database are ready. */
export const serverState = queryOptions({
  queryKey: ['readyz'],
  async queryFn({ signal }) {
    const reply = await fetch(new URL('readyz', baseUrl()), { signal, cache: 'no-store' });
    if (!reply.ok) throw new Error(`the server answered ${reply.status}`);
    return 'ready';
  },
  refetchInterval: ({ state }) => (state.status === 'error' ? interval.away : interval.up),
});
