import {
  integerForJson,
  mapNumbers,
  parseJson,
  quoteIntegers,
  rawJson,
  withIntegers,
} from './json.ts';

export interface ExactFetchOptions {
  /**
   * `bigint`: every `id` in the result of `json()` is a `bigint`, for a client whose types say so. Default: only
   * an id beyond ±(2^53−1) is a `bigint`.
   */
  ids?: 'bigint';
}

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
  { ids }: ExactFetchOptions = {},
): Fetch {
  defineToJson();
  const read = (text: string) => {
    const value = parseJson(text);
    if (ids !== 'bigint') return value;
    return mapNumbers(value, (number, key) =>
      key === 'id' && Number.isSafeInteger(number) ? BigInt(number) : number,
    );
  };
  // The signature does not name the types of `fetch`, because some programs lack these types.
  const send = fetch as unknown as typeof globalThis.fetch;
  const exact: typeof send = async (...request) =>
    exactResponse(await send(...(await exactRequest(request))), read);
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

type ReadJson = (text: string) => unknown;

async function exactResponse(response: Response, read: ReadJson): Promise<Response> {
  if (!isJson(response)) return response;
  const text = await response.text();
  if (text === '') return response; // A response to HEAD has no body.
  const body = new TextEncoder().encode(quoteIntegers(text));
  const headers = new Headers(response.headers);
  headers.delete('content-encoding');
  // Without `content-length`, openapi-fetch calls `text()` in place of `json()`.
  headers.set('content-length', String(body.length));
  const { status, statusText, url } = response;
  const exact = new Response(body, { status, statusText, headers });
  Object.defineProperty(exact, 'url', { value: url });
  return withExactJson(exact, () => read(text));
}

function withExactJson(response: Response, read: () => unknown): Response {
  return Object.assign(response, {
    async json() {
      await response.arrayBuffer(); // `arrayBuffer` throws when the body has already been read.
      return read();
    },
    clone: () => withExactJson(Response.prototype.clone.call(response), read),
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
  [Key in keyof Types]: Key extends 'id'
    ? Types[Key] extends number | undefined
      ? number | bigint
      : Types[Key]
    : ExactIds<Types[Key]>;
};
