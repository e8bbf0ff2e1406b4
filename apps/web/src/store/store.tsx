import {
  createPlantStoreClient,
  isRetryable,
  type PlantStoreClient,
  queryDefaults,
} from '@plant-store/client';
import type { Scope } from '@plant-store/schemas';
import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  useQuery,
} from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useLayoutEffect, useState } from 'react';
import { explainError, isTokenError } from './errors.tsx';

/** Returns the address of the store. If a proxy adds a path prefix, the address includes the prefix. */
export function baseUrl(): string {
  return new URL('.', document.baseURI).href;
}

/** Returns a command for a POSIX shell that reads plants. By default, a variable contains the token. */
export function curlOf(path: string, token = '$PLANT_STORE_TOKEN'): string {
  const url = new URL(path, baseUrl()).href.replace(/\?$/, '').replaceAll("'", '%27');
  return `curl '${url}' -H "Authorization: Bearer ${token}"`;
}

const ClientContext = createContext<PlantStoreClient | undefined>(undefined);

interface StoreProps {
  token: string;
  children: ReactNode;
  /** Runs when the store rejects the token. */
  onRejected(reason: string): void;
}

/** Connects the views inside with the store. A new token continues with the views and their state. */
export function Store({ token, children, onRejected }: StoreProps) {
  const [{ queryClient, client, setToken }] = useState(() => connect(onRejected));
  // Runs before the first queries inside.
  useLayoutEffect(() => setToken(token), [setToken, token]);
  return (
    <QueryClientProvider client={queryClient}>
      <ClientContext value={client}>{children}</ClientContext>
    </QueryClientProvider>
  );
}

function connect(onRejected: (reason: string) => void) {
  const onError = (error: unknown) => {
    if (isTokenError(error)) onRejected(explainError(error));
  };
  const loadAgain = () => void queryClient.invalidateQueries();
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    // Even a mutation with an error may have changed something.
    mutationCache: new MutationCache({ onError, onSettled: loadAgain }),
    defaultOptions: {
      // Even without a network, the browser can reach a server on the same machine.
      queries: { ...queryDefaults, networkMode: 'always' },
      mutations: { networkMode: 'always' },
    },
  });
  let current = '';
  return {
    queryClient,
    client: createPlantStoreClient({
      url: baseUrl(),
      token: () => current,
      // The time limit is long, because a request of a large import may take half a minute.
      timeout: 40_000,
      retry: false,
    }),
    /** What the store did not give to the earlier token is asked for again. */
    setToken(token: string): void {
      current = token;
      loadAgain();
    },
  };
}

/** Returns the typed client of the store. */
export function useClient(): PlantStoreClient {
  const client = useContext(ClientContext);
  if (!client) throw new Error('useClient is used outside Store');
  return client;
}

/** Returns the owner of the access token, and whether the token has a scope. */
export function useIdentity() {
  const client = useClient();
  const { data: identity } = useQuery({
    queryKey: ['whoAmI'],
    queryFn: ({ signal }) => client.whoAmI.query({}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => isRetryable(state.error) && 1_000,
  });
  // Before the response, the console asks for the list too, so that both need one round trip.
  const may = (scope: Scope) => identity?.scopes.includes(scope) ?? scope === 'plants:read';
  return { identity, may };
}
