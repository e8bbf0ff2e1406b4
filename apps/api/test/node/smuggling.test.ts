import type { PlantStore } from '@plant-store/core';
import { beforeEach, expect, it, vi } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';

const create = vi.fn<PlantStore['create']>(async ({ name }) => ({ name }));
const server = shareServer({ create });

beforeEach(() => {
  create.mockClear();
});

const authorization = 'Authorization: Bearer test-token\r\nContent-Type: application/json\r\n';
const plant = '{"id":1,"name":"x"}';

/** A request that an attacker hides in the body of another one, so that the server executes it. */
const hidden = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}Content-Length: 19\r\n\r\n${plant}`;

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
])('does not execute a request that hides behind %s', async (_what, headers) => {
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}${headers}\r\n\r\n`;
  for (const body of [`0\r\n\r\n${hidden}`, hidden]) {
    const { responses } = await sendRaw(server.url, head + body);
    expect(responses).toHaveLength(1);
    expect(responses[0]?.status).toSatisfy((status: number) => status >= 400 && status < 500);
    expect(JSON.parse(responses[0]?.body ?? '')).toMatchObject({ error: expect.any(Number) });
  }
  expect(create).not.toHaveBeenCalled();
});

it.each(['zz', '-1', '0x0', 'fffffffffffffffff', '1;\n'])(
  'does not execute a request that hides behind a chunk of size %j',
  async (size) => {
    const head = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}Transfer-Encoding: chunked\r\n\r\n`;
    const { responses } = await sendRaw(server.url, `${head}${size}\r\n\r\n${hidden}`);
    expect(responses).toHaveLength(1);
    expect(responses[0]?.status).toBe(400);
    expect(create).not.toHaveBeenCalled();
  },
);

it('reads every header of a request with thousands of headers', async () => {
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

it('responds with 431 to headers that are too large', async () => {
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}`;
  const { responses } = await sendRaw(server.url, `${head}${'a:\r\n'.repeat(20_000)}\r\n`);
  expect(responses).toMatchObject([{ status: 431 }]);
});
