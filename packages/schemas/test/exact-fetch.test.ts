import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { exactFetch } from '../src/index.ts';

const [minimum, maximum] = [-(2n ** 63n), 2n ** 63n - 1n];
const page = '{"plants":[{"id":-9223372036854775808},{"id":7}],"next":9223372036854775807}';

const server = createServer(async (request, response) => {
  const { type, body } = await respond(request);
  response.setHeader('content-type', type);
  response.write(body); // `write` sends no Content-Length, as in a compressed response.
  response.end();
});
let url: string;

async function respond(request: IncomingMessage) {
  if (request.url === '/echo') return { type: 'application/json', body: await text(request) };
  if (request.url === '/text') return { type: 'text/plain', body: page };
  return { type: 'application/json; charset=utf-8', body: page };
}

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  // The cast is safe, because the address of a TCP server has a port.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

afterEach(() => void Reflect.deleteProperty(BigInt.prototype, 'toJSON'));

it('reads integers beyond 2^53 as bigint, and other integers as number', async () => {
  const response = await exactFetch(fetch)(`${url}/page`);
  expect(await response.clone().json()).toEqual({
    plants: [{ id: minimum }, { id: 7 }],
    next: maximum,
  });
  expect(response).toMatchObject({ status: 200, ok: true, url: `${url}/page` });
  expect(await response.json()).toEqual({ plants: [{ id: minimum }, { id: 7 }], next: maximum });
  await expect(response.json()).rejects.toThrow(TypeError);
});

it('puts quotes around long integers in the text, and sets the Content-Length', async () => {
  const response = await exactFetch(fetch)(`${url}/page`);
  const quoted = page.replaceAll(/-?\d{19}/g, '"$&"');
  expect(response.headers.get('content-length')).toBe(String(quoted.length));
  expect(await response.text()).toBe(quoted);
});

it.each(['a string', 'a Request'])('sends all digits of a bigint in %s', async (kind) => {
  const send = exactFetch(fetch);
  const plant = { id: minimum, name: 'a "9223372036854775807" \\u0000', tags: [maximum, 1n] };
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', body: JSON.stringify(plant), headers };
  const echo = `${url}/echo`;
  const response = await (kind === 'a Request' ? send(new Request(echo, init)) : send(echo, init));
  expect(await response.json()).toEqual({ ...plant, tags: [maximum, 1] });
});

it("gives every id as a bigint with the option ids: 'bigint'", async () => {
  const response = await exactFetch(fetch, { ids: 'bigint' })(`${url}/page`);
  expect(await response.json()).toEqual({ plants: [{ id: minimum }, { id: 7n }], next: maximum });
});

it('does not change responses that are not JSON', async () => {
  const response = await exactFetch(fetch)(`${url}/text`);
  expect(await response.text()).toBe(page);
});

it('does not replace a BigInt.prototype.toJSON that the program has defined', () => {
  const toJSON = () => 'mine';
  Object.assign(BigInt.prototype, { toJSON });
  exactFetch(fetch);
  expect(JSON.stringify(1n)).toBe('"mine"');
});
