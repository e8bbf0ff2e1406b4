import { maxBatchCalls } from '@plant-store/schemas';
import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  splitLink,
  type TRPCClient,
} from '@trpc/client';
import superjson from 'superjson';
import type { AppRouter } from './app-router.ts';
import { AccessTokenError, ResponseError } from './errors.ts';
import { callLinks, subscriptionLinks, waitOf } from './links.ts';

export { AccessTokenError };

export interface PlantStoreClientOptions {
  /**
   * The address of the store, such as `https://plants.example.com`. In a web page, the address can be a path.
   * The address `''` means the origin of the web page.
   */
  url: string;
  /** The access token, or a function that returns the token, which the client calls for each request. */
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
  timeout = 10_000,
  retry = true,
  headers,
  fetch = (...request) => globalThis.fetch(...request),
}: PlantStoreClientOptions): PlantStoreClient {
  const http = {
    url: `${url.replace(/\/$/, '').replace(/\/trpc$/, '')}/trpc`,
    async headers() {
      const all = new Headers(typeof headers === 'function' ? await headers() : headers);
      all.set('authorization', await bearer(token));
      return Object.fromEntries(all);
    },
    transformer: superjson,
    fetch: explained(fetch),
  };
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: subscriptionLinks(http),
        false: [
          ...callLinks({ timeout, retry }),
          splitLink({
            condition: (op) => waitOf(op) > 0 || isLong(op.input, maxLength[op.type]),
            true: httpLink(http),
            false: httpBatchLink({ ...http, maxItems: maxBatchCalls }),
          }),
        ],
      }),
    ],
  });
}

/** Returns the `Authorization` header. An `AccessTokenError` does not contain the token. */
async function bearer(token: PlantStoreClientOptions['token']): Promise<string> {
  let given: unknown = token;
  try {
    if (typeof token === 'function') given = await token();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AccessTokenError(`the token function threw an error: ${reason}`, { cause });
  }
  // A token from a file may end with a line break.
  const value = typeof given === 'string' ? given.trim() : '';
  if (value === '') {
    throw new AccessTokenError('the access token is missing: give the client a token of the store');
  }
  if (notInHeader.test(value)) {
    throw new AccessTokenError(
      'the access token contains a character that an HTTP header cannot hold: ' +
        'give the client the token as the store showed it',
    );
  }
  return `Bearer ${value}`;
}

/** Matches a character that an HTTP header cannot contain (RFC 9110, section 5.5). */
const notInHeader = /[^\t\x20-\x7e\x80-\xff]/;

/** Says why a request failed, and rejects a response that is not from the store: it comes from a proxy. */
function explained(fetch: Fetch) {
  return async (url: Parameters<typeof globalThis.fetch>[0], init?: object): Promise<Response> => {
    const response = await fetch(String(url), init).catch((cause: unknown) => {
      throw cause instanceof TypeError ? networkError(cause, String(url)) : cause;
    });
    const isJson = response.ok
      ? formats.test(response.headers.get('content-type') ?? '')
      : (await response
          .clone()
          .json()
          .catch(() => undefined)) !== undefined;
    if (!isJson) throw new ResponseError(response.status);
    return response;
  };
}

const formats = /^(application\/json|text\/event-stream)\b/;

/** In Node, the cause of the error says why a request failed. A browser does not tell this to a web page. */
function networkError(error: TypeError, url: string): TypeError {
  const { location } = globalThis as { location?: { href: string; origin: string } };
  const { message, code } = Object(error.cause);
  let reason = message || code ? `: ${message || code}` : '';
  if (location && new URL(url, location.href).origin !== location.origin) {
    reason = `; the store has another origin: check that its PLANT_STORE_CORS_ORIGINS has ${location.origin}`;
  }
  return new TypeError(`${error.message}${reason}`, { cause: error });
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
