import {
  createPlantStoreClient,
  isRetryable,
  plantStoreError,
  queryDefaults,
} from '@plant-store/client';
import type { ErrorKind, Scope } from '@plant-store/schemas';
import { MutationCache, QueryCache, QueryClient, useQuery } from '@tanstack/react-query';

let session = { token: '', onRejected(_reason: string): void {} };

/** The typed client of the store, with the token of the session. */
export const client = createPlantStoreClient({
  url: baseUrl(),
  token: () => session.token,
  // The time limit is long, because a request of a large import may take half a minute.
  timeout: 40_000,
  retry: false,
});

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  // Even a mutation with an error may have changed something.
  mutationCache: new MutationCache({ onError, onSettled: loadAgain }),
  defaultOptions: {
    // Even without a network, the browser can reach a server on the same machine.
    queries: { ...queryDefaults, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

function onError(error: unknown): void {
  if (isTokenError(error)) session.onRejected(explainError(error));
}

function loadAgain(): void {
  void queryClient.invalidateQueries();
}

/** Uses a token from now on, and repeats all queries, because the token may have other scopes. */
export function connect(token: string, onRejected: (reason: string) => void): void {
  session = { token, onRejected };
  loadAgain();
}

/** Returns the address of the store. If a proxy adds a path prefix, the address includes the prefix. */
export function baseUrl(): string {
  return new URL('.', document.baseURI).href;
}

/** Returns a `curl` command for a POSIX shell. By default, the command reads the token from a variable. */
export function curlOf(path: string, token = '$PLANT_STORE_TOKEN'): string {
  const url = new URL(path, baseUrl()).href.replace(/\?$/, '').replaceAll("'", '%27');
  return `curl '${url}' -H "Authorization: Bearer ${token}"`;
}

/** Returns the identity of the access token, and a function that tells whether the token has a scope. */
export function useIdentity() {
  const { data: identity } = useQuery({
    queryKey: ['whoAmI'],
    queryFn: ({ signal }) => client.whoAmI.query({}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => isRetryable(state.error) && 1_000,
  });
  // Before the response, the console assumes `plants:read`, so that the list needs no second round trip.
  const may = (scope: Scope) => identity?.scopes.includes(scope) ?? scope === 'plants:read';
  return { identity, may };
}

/** Returns a message that explains an error to the user. */
export function explainError(thrown: unknown): string {
  const error = plantStoreError(thrown);
  // The message of this error is for programmers, such as "Failed to fetch".
  if (error?.kind === 'noResponse') {
    return 'The plant store does not respond. Check the network, and try again.';
  }
  const { message } = error ?? (thrown instanceof Error ? thrown : { message: String(thrown) });
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** Whether an error says that the store rejects the access token. */
export function isTokenError(thrown: unknown): boolean {
  const kind = plantStoreError(thrown)?.kind;
  return kind === 'tokenInvalid' || kind === 'tokenMissing';
}

/** Whether an error of the store has this kind. */
export function isError(thrown: unknown, kind: ErrorKind): boolean {
  return plantStoreError(thrown)?.kind === kind;
}

/** Explains the error of a request. Shows nothing without an error, or when the user has stopped the request. */
export function ErrorAlert({ error, start }: { error: unknown; start?: string }) {
  const { name, cause }: { name?: string; cause?: { name?: string } } = Object(error);
  if (!error || name === 'AbortError' || cause?.name === 'AbortError') return null;
  return (
    <p className="alert" role="alert">
      {start && `${start} `}
      {explainError(error)}
    </p>
  );
}
