import type { PlantStore } from '@plant-store/core';
import { beforeEach, expect, it, vi } from 'vitest';
import {
  authorization,
  close,
  contentType,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';

const create = vi.fn<PlantStore['create']>(async ({ name }) => ({ name }));
const server = shareServer({ create });

beforeEach(() => {
  create.mockClear();
});

const plant = '{"id":1,"name":"x"}';

/** Writes the head of a create request, with headers that contradict each other about the body's end. */
const head = (...headers: string[]) =>
  rawRequest('POST /plants', [authorization, contentType, ...headers]);

/** A create request, which an attacker hides in the body of another request. */
const hidden = rawPost(plant);

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
  for (const body of [`0\r\n\r\n${hidden}`, hidden]) {
    const { responses } = await sendRaw(server.url, head(headers) + body);
    expect(responses).toMatchObject([{ status: 400 }]);
    expect(JSON.parse(responses[0]?.body ?? '')).toMatchObject({ error: 40002 });
  }
  expect(create).not.toHaveBeenCalled();
});

it.each(['zz', '-1', '0x0', 'fffffffffffffffff', '1;\n'])(
  'does not execute a request that is hidden behind a chunk of the size %j',
  async (size) => {
    const request = `${head('Transfer-Encoding: chunked')}${size}\r\n\r\n${hidden}`;
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
