import { maxBatchCalls } from '@plant-store/schemas';
import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
} from '@trpc/client';
import superjson from 'superjson';
import { type AccessToken, bearer } from './access-token.ts';
import type { AppRouter } from './app-router.ts';
import { type CallOptions, callLink, waitOf } from './call-link.ts';
import { EventStream } from './event-stream.ts';
import { reconnectLink } from './reconnect.ts';

export interface PlantStoreClientOptions extends CallOptions {
  /**
   * The address of the store, such as `https://plants.example.com`. In a web page, the address can be a path.
   * The address `''` means the origin of the web page.
   */
  url: string;
  /** The access token, or a function that returns the token, which the client calls for each request. */
  token: AccessToken;
  /** Headers for each request, or a function that returns the headers. */
  headers?: GivenHeaders | (() => GivenHeaders | Promise<GivenHeaders>);
  /** Sends each request. The default is the `fetch` of the platform. */
  fetch?: Fetch | undefined;
}

type GivenHeaders = RequestInit['headers'];

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

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
  headers,
  fetch,
  ...calls
}: PlantStoreClientOptions): PlantStoreClient {
  const options = {
    url: `${withoutSlash(url)}/trpc`,
    async headers() {
      const all = new Headers(typeof headers === 'function' ? await headers() : headers);
      all.set('authorization', await bearer(token));
      return Object.fromEntries(all);
    },
    transformer: superjson,
    fetch: explained(fetch ?? ((...request) => globalThis.fetch(...request))),
  };
  const eventSourceOptions = async () => ({
    canStream: fetch !== undefined || 'body' in Response.prototype,
    headers: await options.headers(),
    fetch: options.fetch,
  });
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: [
          reconnectLink,
          httpSubscriptionLink({ ...options, EventSource: EventStream, eventSourceOptions }),
        ],
        false: [
          callLink(calls),
          splitLink({
            condition: (op) => waitOf(op) > 0 || isLong(op.input, maxLength[op.type]),
            true: httpLink(options),
            false: httpBatchLink({ ...options, maxItems: maxBatchCalls }),
          }),
        ],
      }),
    ],
  });
}

function withoutSlash(url: string): string {
  let end = url.length;
  while (url.charAt(end - 1) === '/') end--;
  return url.slice(0, end);
}

/** Adds the likely cause to an error of `fetch`. A browser does not tell a web page why a request failed. */
function explained(fetch: Fetch) {
  return async (url: Parameters<typeof globalThis.fetch>[0], init?: object): Promise<Response> => {
    try {
      return await fetch(String(url), init);
    } catch (cause) {
      // In Node, `location` is undefined.
      const { location } = globalThis as { location?: { href: string; origin: string } };
      const isOtherOrigin =
        location && new URL(String(url), location.href).origin !== location.origin;
      if (!isOtherOrigin || !(cause instanceof TypeError)) throw cause;
      const check = `check that its PLANT_STORE_CORS_ORIGINS has ${location.origin}`;
      throw new TypeError(`${cause.message}; the store has another origin: ${check}`, { cause });
    }
  };
}

/**
 * The longest text, in characters, of a call that shares a request. The body of a mutation has at most 1 MiB,
 * and one character can take six characters in JSON. The URL of a query has at most 16 KiB, and one character
 * can take nine characters in a URL.
 */
const maxLength = { mutation: 8_000, query: 100, subscription: 0 };

function isLong(input: unknown, limit: number): boolean {
  return Object.values(Object(input)).some(
    (value) => Array.isArray(value) || (typeof value === 'string' && value.length > limit),
  );
}
