import { maxBatchCalls } from '@plant-store/schemas';
import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
} from '@trpc/client';
import { EventSource } from 'eventsource';
import superjson from 'superjson';
import type { AppRouter } from './app-router.ts';
import { AccessTokenError } from './errors.ts';
import { connectTo, type Fetch, limitTime, repeat, storeFetch, waitOf } from './links.ts';

export interface PlantStoreClientOptions {
  /**
   * The address of the store, such as `https://plants.example.com`. In a web page, the address can be a path.
   * The address `''` means the origin of the web page.
   */
  url: string;
  /** The access token, or a function that returns the token. The client calls the function for each request. */
  token: string | (() => string | Promise<string>);
  /**
   * The time limit of a call with all its retries, in milliseconds. The default is 10,000. If a call has
   * `wait`, the client adds the seconds of `wait` to the limit. `Infinity` means no limit.
   */
  timeout?: number | undefined;
  /**
   * Whether the client repeats a query or a create after a temporary error. The default is `true`.
   * The client never repeats a delete, because the second delete could delete a new plant with the same id.
   */
  retry?: boolean | undefined;
  /** Sends each request. The default is the `fetch` of the platform. */
  fetch?: Fetch | undefined;
}

/** A client with typed procedures: `client.createPlant.mutate({ id: 1n, name: 'Monstera deliciosa' })`. */
export type PlantStoreClient = TRPCClient<AppRouter>;

/**
 * Creates a client of a plant store. When a program makes several calls at the same time, up to ten calls
 * share one request. A call with `wait`, with a list of plants or with a long text has a separate request.
 *
 * When a call throws an error, pass the error to `plantStoreError`. When the client gets no
 * valid access token, the `cause` of the error is an `AccessTokenError`.
 */
export function createPlantStoreClient({
  url,
  token,
  timeout = 10_000,
  retry = true,
  fetch = (...request) => globalThis.fetch(...request),
}: PlantStoreClientOptions): PlantStoreClient {
  const http = {
    url: `${url.replace(/(\/trpc)?\/?$/, '')}/trpc`,
    headers: async () => ({
      authorization: `Bearer ${checkToken(typeof token === 'function' ? await token() : token)}`,
    }),
    transformer: superjson,
    fetch: storeFetch(fetch),
  };
  return createTRPCClient<AppRouter>({
    links: [
      limitTime(timeout),
      repeat(retry),
      splitLink({
        condition: ({ type }) => type === 'subscription',
        // The `EventSource` of npm can send the access token. It connects again after each end of the stream.
        true: httpSubscriptionLink({
          ...http,
          EventSource,
          eventSourceOptions: ({ op }) => ({ fetch: connectTo(http, op) }),
        }),
        false: splitLink({
          condition: (op) => waitOf(op) > 0 || Object.values(Object(op.input)).some(isLong),
          true: httpLink(http),
          false: httpBatchLink({ ...http, maxItems: maxBatchCalls }),
        }),
      }),
    ],
  });
}

/** The URL of a query has at most 16 KiB, and a character can take nine characters in a URL. */
function isLong(value: unknown): boolean {
  return Array.isArray(value) || (typeof value === 'string' && value.length > 100);
}

/** @throws AccessTokenError without the token in its message */
function checkToken(given: unknown): string {
  const token = typeof given === 'string' ? given.trim() : ''; // A token from a file may end with a line break.
  if (token === '') {
    throw new AccessTokenError('the access token is missing: give the client a token of the store');
  }
  // RFC 9110, section 5.5.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(token)) {
    throw new AccessTokenError(
      'the access token contains a character that an HTTP header cannot hold: ' +
        'give the client the token as the store showed it',
    );
  }
  return token;
}
