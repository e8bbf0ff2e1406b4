import { expect, it } from 'vitest';
import { expectError, expectErrorAt } from '../fixtures/expect-error.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';

const server = shareServer();

it.each([
  ['bytes that are not HTTP', 'hello\r\n\r\n'],
  ['a request without Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
  [
    'a request with two Host headers',
    'GET /livez HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n',
  ],
  [
    'a request with two Authorization headers',
    'GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
  ],
  ['an invalid header', 'GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n'],
  [
    'two Content-Length headers',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  ],
  [
    'Content-Length with Transfer-Encoding',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
])('responds with 400 to %s', async (_case, bytes) => {
  const { status, headers, body } = await sendRaw(server.url, bytes);
  expectError({ status, body: JSON.parse(body) }, 400, 40002);
  expect(headers.get('content-type')).toBe('application/json');
});

it('responds with 400 to bytes after a body that are not a request, and names no method', async () => {
  const body = '{"id":1,"name":"x"}';
  const request = head('/plants').replace('100', String(body.length)) + body;
  for (const rest of ['{"id":1}\r\nPOST / HTTP/1.1\r\n', '{"id":1}POST / HTTP/1.1\r\n']) {
    const { responses } = await sendRaw(server.url, `${request}${rest}Host: x\r\n\r\n`);
    expect(responses.map(({ status }) => status)).toEqual([200, 400]);
    expect(JSON.parse(responses[1]?.body ?? '')).toEqual({
      error: 40002,
      message: 'the request is not well-formed HTTP/1.1: check the client',
    });
  }
});

const head = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n` +
  'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n';

it.each([
  ['headers', '/plants', 'POST /plants HTTP/1.1\r\nHost: x\r\n'],
  ['a body over REST', '/plants', `${head('/plants')}{"id"`],
  ['a body over tRPC', '/trpc/createPlant', `${head('/trpc/createPlant')}{"json"`],
])(
  'responds with 408 to %s that a client does not finish in time',
  async (_part, target, bytes) => {
    const impatient = await startServerOn(server.store, { requestTimeout: 100 });
    const { status, body } = await sendRaw(impatient.url, bytes);
    expectErrorAt(target, { status, body: JSON.parse(body) }, 408, 40800);
    await impatient.stop();
  },
);

type ReceivedResponse = Parameters<typeof expectError>[0];

const long = 'a'.repeat(20_000);
const trpcHead = 'POST /trpc/createPlant HTTP/1.1\r\nHost: x\r\n';

it.each([
  ['a long target', `GET /trpc/getPlant?input=${long} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 43100],
  ['a long path', `GET /trpc/${long} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 43100],
  ['long headers', `${trpcHead}A: ${long}\r\n\r\n`, 431, 43100],
  [
    'a long target in absolute form',
    `GET http://x/trpc/getPlant?input=${long} HTTP/1.1\r\nHost: x\r\n\r\n`,
    431,
    43100,
  ],
  [
    'an encoded target',
    `GET /%74rpc/getPlant?input=${long} HTTP/1.1\r\nHost: x\r\n\r\n`,
    431,
    43100,
  ],
  ['an invalid header', `${trpcHead}A b: c\r\n\r\n`, 400, 40002],
  ['an unknown method', 'BREW /trpc/createPlant HTTP/1.1\r\nHost: x\r\n\r\n', 501, 50100],
  ['no Host', 'POST /trpc/createPlant HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 40002],
  [
    'an invalid Host',
    'POST /trpc/createPlant HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n',
    400,
    40002,
  ],
  ['an expectation', `${trpcHead}Expect: cake\r\nConnection: close\r\n\r\n`, 417, 41700],
  [
    'an invalid chunk',
    `${trpcHead}Transfer-Encoding: chunked\r\nAuthorization: Bearer test-token\r\nContent-Type: application/json\r\n\r\nxyz\r\n`,
    400,
    40002,
  ],
])(
  'rejects a request to tRPC with %s in the envelope of tRPC',
  async (_what, bytes, status, code) => {
    const { body, ...response } = await sendRaw(server.url, bytes);
    expectErrorAt('/trpc', { status: response.status, body: JSON.parse(body) }, status, code);
  },
);

it('rejects only the malformed request among several requests on a connection', async () => {
  const good = 'GET /trpc/ HTTP/1.1\r\nHost: x\r\n\r\n';
  const { responses } = await sendRaw(server.url, `${good}GET /plants?tag=${long} HTTP/1.1\r\n`);
  const [first, second] = responses.map(({ status, body }) => ({ status, body: JSON.parse(body) }));
  expectErrorAt('/trpc/', first as ReceivedResponse, 404, 40400);
  expectError(second as ReceivedResponse, 431, 43100);
});

it.each(['/plants', '/trpc/getPlant'])(
  'responds without a body to a HEAD of %s that Node rejects',
  async (path) => {
    const request = (method: string) =>
      sendRaw(server.url, `${method} ${path}?tag=${long} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [get, head] = [await request('GET'), await request('HEAD')];
    expect(head).toMatchObject({ status: 431, body: '' });
    expect(head.text).toMatch(/\r\n\r\n$/);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.body)));
  },
);
