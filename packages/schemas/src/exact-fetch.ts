import { integerForJson, mapNumbers, parseJson } from './integers.ts';

/**
 * Wraps a `fetch` for a client that a generator made from the OpenAPI document. With the returned function,
 * the client does not round integers beyond ±(2^53−1).
 *
 * In a response, `json()` returns an integer beyond ±(2^53−1) as a `bigint`. `text()` puts quotes around the
 * integer, because many clients pass the text to `JSON.parse`.
 *
 * With `ids: 'bigint'`, `json()` returns every `id` as a `bigint`, for a client whose ids have this type.
 *
 * The body of a request may contain `bigint`s. Clients write the body with `JSON.stringify`, so this function
 * defines `BigInt.prototype.toJSON`, unless the program has defined it.
 */
export function exactFetch<Fetch extends (...request: never[]) => Promise<unknown>>(
  fetch: Fetch,
  { ids }: { ids?: 'bigint' } = {},
): Fetch {
  if (!('toJSON' in BigInt.prototype)) {
    Object.defineProperty(BigInt.prototype, 'toJSON', {
      configurable: true,
      writable: true,
      value(this: bigint) {
        return integerForJson(this);
      },
    });
  }
  const read = (text: string) => {
    const body = { value: parseJson(text) };
    if (ids) mapNumbers(body, (number, key) => (key === 'id' ? BigInt(number) : number));
    return body.value;
  };
  // The signature does not name the types of `fetch`, because some programs do not have these types.
  const send = fetch as unknown as typeof globalThis.fetch;
  const exact: typeof send = async (...request) => {
    const response = await send(...request);
    const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
    return isJson ? exactResponse(response, read) : response;
  };
  return exact as unknown as Fetch;
}

async function exactResponse(
  response: Response,
  read: (text: string) => unknown,
): Promise<Response> {
  const text = await response.text();
  if (text === '') return response; // A response to HEAD has no body.
  const quoted = parseJson(text, (exact) => (typeof exact === 'bigint' ? `${exact}` : exact));
  const body = new TextEncoder().encode(JSON.stringify(quoted));
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

/**
 * Changes the types that openapi-typescript generates, so that an id may be a `bigint`. Other generators have
 * an option for `bigint` ids.
 */
export type ExactIds<Types> = {
  [Key in keyof Types]: Key extends 'id'
    ? Types[Key] extends number | undefined
      ? number | bigint
      : Types[Key]
    : ExactIds<Types[Key]>;
};
