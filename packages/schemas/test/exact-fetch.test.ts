import { afterEach, expect, it } from 'vitest';
import { exactFetch } from '../src/index.ts';

const [minimum, maximum] = [-(2n ** 63n), 2n ** 63n - 1n];
const page = '{"plants":[{"id":-9223372036854775808},{"id":7}],"next":9223372036854775807}';

/** Responds to each request with the body of the request, or with `page`. */
async function fetch(...request: Parameters<typeof globalThis.fetch>): Promise<Response> {
  const sent = new Request(...request);
  const type = sent.headers.get('accept') ?? 'application/json; charset=utf-8';
  const options = { status: 201, headers: { 'content-type': type } };
  const response = new Response((await sent.text()) || page, options);
  return Object.defineProperty(response, 'url', { value: sent.url });
}

const url = 'http://plants.example/plants';

afterEach(() => void Reflect.deleteProperty(BigInt.prototype, 'toJSON'));

it('reads integers beyond 2^53 as bigint, and other integers as number', async () => {
  const response = await exactFetch(fetch)(url);
  const exact = { plants: [{ id: minimum }, { id: 7 }], next: maximum };
  expect(await response.clone().json()).toEqual(exact);
  expect(response).toMatchObject({ status: 201, ok: true, url });
  expect(await response.json()).toEqual(exact);
  await expect(response.json()).rejects.toThrow(TypeError);
});

it('puts quotes around long integers in the text, and sets the Content-Length', async () => {
  const response = await exactFetch(fetch)(url);
  const quoted = page.replaceAll(/-?\d{19}/g, '"$&"');
  expect(response.headers.get('content-length')).toBe(String(quoted.length));
  expect(await response.text()).toBe(quoted);
});

it.each(['RequestInit', 'Request'])('sends all digits of a bigint in a %s', async (kind) => {
  const send = exactFetch(fetch);
  const plant = { id: minimum, name: 'a "9223372036854775807" \\u0000', tags: [maximum, 1n] };
  const init = { method: 'POST', body: JSON.stringify(plant) };
  const response = await (kind === 'Request' ? send(new Request(url, init)) : send(url, init));
  expect(await response.json()).toEqual({ ...plant, tags: [maximum, 1] });
});

it("returns every id as a bigint with the option ids: 'bigint'", async () => {
  const response = await exactFetch(fetch, { ids: 'bigint' })(url);
  expect(await response.json()).toEqual({ plants: [{ id: minimum }, { id: 7n }], next: maximum });
});

it('does not change responses that are not JSON', async () => {
  const response = await exactFetch(fetch)(url, { headers: { accept: 'text/plain' } });
  expect(await response.text()).toBe(page);
});

it('does not replace a BigInt.prototype.toJSON that the program has defined', () => {
  const toJSON = () => 'mine';
  Object.assign(BigInt.prototype, { toJSON });
  exactFetch(fetch);
  expect(JSON.stringify(1n)).toBe('"mine"');
});
