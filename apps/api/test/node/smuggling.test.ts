import type { PlantStore } from '@plant-store/core';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const create = vi.fn<PlantStore['create']>(async ({ name }) => ({ name }));
let server: RunningServer;

beforeAll(async () => {
  server = await startServer('Postgres', { create, requestTimeout: 500 });
});

afterAll(() => server.stop());

beforeEach(() => {
  create.mockClear();
});

const authorization = 'Authorization: Bearer test-token\r\nContent-Type: application/json\r\n';
const plant = '{"id":1,"name":"x"}';

/** What an attacker hides in the body of another request, for the server to take it for the next. */
const hidden = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}Content-Length: 19\r\n\r\n${plant}`;

it.each([
  ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
  ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
  ['chunks twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
  ['chunks, then nothing', 'Transfer-Encoding: chunked, identity'],
  ['chunks that resemble chunks', 'Transfer-Encoding: xchunked'],
  ['chunks after a vertical tab', 'Transfer-Encoding: \x0bchunked'],
  ['chunks in quotes', 'Transfer-Encoding: "chunked"'],
  ['chunks with a space before the colon', 'Transfer-Encoding : chunked'],
  ['chunks on a folded line', 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 5'],
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
  ['a list of lengths', 'Content-Length: 5, 5'],
  ['a length with a sign', 'Content-Length: +5'],
  ['a negative length', 'Content-Length: -1'],
  ['a hexadecimal length', 'Content-Length: 0x5'],
  ['a length beyond all numbers', `Content-Length: ${'9'.repeat(30)}`],
  ['an empty length', 'Content-Length:'],
  ['a bare line feed', 'A: b\nContent-Length: 5'],
  ['a bare carriage return', 'A: b\rContent-Length: 5'],
  ['a NUL', 'A: b\0c'],
])('takes nothing for a request that hides behind %s', async (_what, headers) => {
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}${headers}\r\n\r\n`;
  for (const body of [`0\r\n\r\n${hidden}`, hidden]) {
    const { replies } = await sendRaw(server.url, head + body);
    expect(replies).toHaveLength(1);
    expect(replies[0]?.status).toSatisfy((status: number) => status >= 400 && status < 500);
    expect(JSON.parse(replies[0]?.body ?? '')).toMatchObject({ error: expect.any(Number) });
  }
  expect(create).not.toHaveBeenCalled();
});

it.each(['zz', '-1', '0x0', 'fffffffffffffffff', '1;\n'])(
  'takes nothing for a request that hides behind a chunk of size %j',
  async (size) => {
    const head = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}Transfer-Encoding: chunked\r\n\r\n`;
    const { replies } = await sendRaw(server.url, `${head}${size}\r\n\r\n${hidden}`);
    expect(replies).toHaveLength(1);
    expect(replies[0]?.status).toBe(400);
    expect(create).not.toHaveBeenCalled();
  },
);

it('sees every header, be there thousands', async () => {
  const many = 'a:\r\n'.repeat(3_000);
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}`;
  const length = `Content-Length: ${plant.length}\r\n`;
  const sent = await sendRaw(server.url, `${head}${length}${many}\r\n${plant}`);
  expect(sent.status).toBe(200);
  const twice = await sendRaw(
    server.url,
    `${head}${length}${many}Authorization: x\r\n\r\n${plant}`,
  );
  expect(twice.status).toBe(400);
});

it('answers 431 to more headers than it takes', async () => {
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}`;
  const { replies } = await sendRaw(server.url, `${head}${'a:\r\n'.repeat(20_000)}\r\n`);
  expect(replies).toMatchObject([{ status: 431 }]);
});

it.each(surfaces)(
  'refuses over $name what is not UTF-8, rather than alter it',
  async ({ path }) => {
    const isRest = path === '/plants';
    const json = isRest ? '{"id":1,"name":"\xff"}' : '{"json":{"id":1,"name":"\xff"}}';
    const headers = ['Host: x', 'Connection: close', `Content-Length: ${json.length}`].join('\r\n');
    const head = `POST ${path} HTTP/1.1\r\n${headers}\r\n${authorization}\r\n`;
    const { status } = await sendRaw(server.url, Buffer.from(head + json, 'latin1'));
    expect(status).toBe(400);
    expect(create).not.toHaveBeenCalled();
  },
);
