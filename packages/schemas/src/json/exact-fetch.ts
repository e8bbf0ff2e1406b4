import { integerForJson, rawJson, withIntegers } from './format-json.ts';
import { parseJson, quoteLongIntegers } from './parse-json.ts';

/**
 * Wraps a `fetch` for a client that a generator made from the OpenAPI document. With the returned function,
 * the client does not round integers beyond ±(2^53−1).
 *
 * In a response, `json()` returns an integer beyond ±(2^53−1) as a `bigint`. `text()` puts quotes around the
 * integer, because many clients pass the text to `JSON.parse`.
 *
 * The body of a request may contain `bigint`s. Clients write the body with `JSON.stringify`, so this function
 * defines `BigInt.prototype.toJSON`, unless the program has defined it.
 *
 * Runs in browsers, and in Node 20 and later.
 */
export function exactFetch<Fetch extends (...request: never[]) => Promise<unknown>>(
  fetch: Fetch,
): Fetch {
  defineToJson();
  // The signature does not name the types of `fetch`, because some programs lack these types.
  const send = fetch as unknown as typeof globalThis.fetch;
  const exact: typeof send = async (...request) =>
    exactResponse(await send(...(await exactRequest(request))));
  return exact as unknown as Fetch;
}

function defineToJson(): void {
  if ('toJSON' in BigInt.prototype) return;
  Object.defineProperty(BigInt.prototype, 'toJSON', {
    configurable: true,
    writable: true,
    value(this: bigint) {
      return integerForJson(this);
    },
  });
}

type FetchRequest = Parameters<typeof globalThis.fetch>;

/** In an engine without JSON.rawJSON, writes the digits of the integers into the body. */
async function exactRequest([input, init]: FetchRequest): Promise<FetchRequest> {
  if (rawJson()) return [input, init];
  if (typeof init?.body === 'string') return [input, { ...init, body: withIntegers(init.body) }];
  if (!(input instanceof Request) || !isJson(input)) return [input, init];
  return [new Request(input, { body: withIntegers(await input.text()) }), init];
}

async function exactResponse(response: Response): Promise<Response> {
  if (!isJson(response)) return response;
  const text = await response.text();
  if (text === '') return response; // A response to HEAD has no body.
  const body = new TextEncoder().encode(quoteLongIntegers(text));
  const headers = new Headers(response.headers);
  headers.delete('content-encoding');
  // Without `content-length`, openapi-fetch calls `text()` in place of `json()`.
  headers.set('content-length', String(body.length));
  const { status, statusText, url } = response;
  const exact = new Response(body, { status, statusText, headers });
  Object.defineProperty(exact, 'url', { value: url });
  return withExactJson(exact, text);
}

function withExactJson(response: Response, text: string): Response {
  return Object.assign(response, {
    async json() {
      await response.arrayBuffer(); // `arrayBuffer` throws when the body has already been read.
      return parseJson(text);
    },
    clone: () => withExactJson(Response.prototype.clone.call(response), text),
  });
}

function isJson({ headers }: Request | Response): boolean {
  return /^application\/json\b/.test(headers.get('content-type') ?? '');
}

/**
 * Changes the types that openapi-typescript generates, so that an id may be a `bigint`. Other generators have
 * an option that makes ids `bigint`s.
 */
export type ExactIds<Types> = {
  [Key in keyof Types]: Key extends 'id' | 'next' | 'after'
    ? Types[Key] extends number | undefined
      ? number | bigint
      : Types[Key]
    : ExactIds<Types[Key]>;
};
