import type { PlantStore } from '@plant-store/core';
import { beforeEach, expect, it, vi } from 'vitest';
import {
  authorization,
  close,
  contentType,
  lastRequest,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const create = vi.fn<PlantStore['create']>(async ({ name }) => ({ name }));
const server = shareServer({ create });

beforeEach(() => {
  create.mockClear();
});

const plant = '{"id":1,"name":"x"}';

/** Writes the head of a create request, with headers that contradict each other about the body's end. */
const head = (...headers: string[]) =>
  rawRequest('POST /plants', [authorization, contentType, ...headers]);

/** A create request. An attacker may hide this request in the body of another request. */
const createRequest = rawPost(plant);

it.each([
  ['a length before chunked coding', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
  ['chunked coding before a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
  ['chunked coding twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
  ['chunked coding, then identity', 'Transfer-Encoding: chunked, identity'],
  ['an unknown coding that resembles chunked', 'Transfer-Encoding: xchunked'],
  ['chunked coding after a vertical tab', 'Transfer-Encoding: \x0bchunked'],
  ['chunked coding in quotes', 'Transfer-Encoding: "chunked"'],
  ['chunked coding with a space before the colon', 'Transfer-Encoding : chunked'],
  ['chunked coding on a folded line', 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 5'],
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
  ['a list of lengths', 'Content-Length: 5, 5'],
  ['a length with a sign', 'Content-Length: +5'],
  ['a negative length', 'Content-Length: -1'],
  ['a hexadecimal length', 'Content-Length: 0x5'],
  ['a length that no number can hold', `Content-Length: ${'9'.repeat(30)}`],
  ['an empty length', 'Content-Length:'],
  ['a bare line feed', 'A: b\nContent-Length: 5'],
  ['a bare carriage return', 'A: b\rContent-Length: 5'],
  ['a NUL', 'A: b\0c'],
])('does not execute a request that is hidden behind %s', async (_what, headers) => {
  for (const body of [`0\r\n\r\n${createRequest}`, createRequest]) {
    const { responses } = await sendRaw(server.url, head(headers) + body);
    expect(responses).toMatchObject([{ status: 400 }]);
    expect(JSON.parse(responses[0]?.body ?? '')).toMatchObject({ error: 40002 });
  }
  expect(create).not.toHaveBeenCalled();
});

it.each(['zz', '-1', '0x0', 'fffffffffffffffff', '1;\n'])(
  'does not execute a request that is hidden behind a chunk of the size %j',
  async (size) => {
    const request = `${head('Transfer-Encoding: chunked')}${size}\r\n\r\n${createRequest}`;
    const { responses } = await sendRaw(server.url, request);
    expect(responses).toMatchObject([{ status: 400 }]);
    expect(create).not.toHaveBeenCalled();
  },
);

it('reads every header of a request with thousands of headers', async () => {
  const many = Array<string>(3_000).fill('a:');
  const once = rawPost(plant, '/plants', [close, ...many]);
  expect(await sendRaw(server.url, once)).toMatchObject({ status: 200 });
  const twice = rawPost(plant, '/plants', [close, ...many, 'Authorization: x']);
  expect(await sendRaw(server.url, twice)).toMatchObject({ status: 400 });
});

it.each(surfaces)(
  'keeps the connection open over $name after a body that is not JSON',
  async ({ path }) => {
    const { responses } = await sendRaw(
      server.url,
      rawPost('{', path) + createRequest + lastRequest,
    );
    expect(responses.map(({ status }) => status)).toEqual([400, 200, 200]);
    expect(responses[0]?.headers.get('connection')).toBe('keep-alive');
    expect(responses[0]?.body).toContain('"error":40000,');
  },
);

it('keeps the connection open after a request with an unknown expectation', async () => {
  const cake = rawPost(plant, '/plants', ['Expect: cake']);
  const { responses } = await sendRaw(server.url, cake + createRequest + lastRequest);
  expect(responses.map(({ status }) => status)).toEqual([417, 200, 200]);
  expect(create).toHaveBeenCalledTimes(1);
});

const chunked = `${authorization}\r\n${contentType}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;

it.each([
  ['a request with Connection: close', lastRequest, 200],
  ['a request of HTTP/1.0', 'GET /livez HTTP/1.0\r\n\r\n', 200],
  ['a request to upgrade', rawRequest('GET /livez', ['Connection: Upgrade', 'Upgrade: h2c']), 200],
  ['chunks over HTTP/1.0', `POST /plants HTTP/1.0\r\nConnection: keep-alive\r\n${chunked}`, 400],
  ['chunks over HTTP/2.0', `POST /plants HTTP/2.0\r\nHost: x\r\n${chunked}`, 400],
  ['an unknown method', rawRequest('BREW /plants'), 501],
  ['malformed bytes', rawRequest('GET /', ['A b: c']), 400],
])('processes no request after %s', async (_what, request, status) => {
  const { responses } = await sendRaw(server.url, createRequest + request + createRequest);
  expect(responses.map((response) => response.status)).toEqual([200, status]);
  expect(responses[1]?.headers.get('connection')).toBe('close');
  expect(create).toHaveBeenCalledTimes(1);
});
