import { expect, it } from 'vitest';
import {
  authorization,
  contentType,
  lastRequest,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();

/** Sends the lines of a request over a socket. Returns the response and the error code. */
async function send(...lines: string[]) {
  const response = await sendRaw(server.url, [...lines, 'Connection: close', '', ''].join('\r\n'));
  return { ...response, error: Number(/"error":(\d{5})/.exec(response.body)?.[1]) };
}

const get = (...headers: string[]) => send('GET /livez HTTP/1.1', ...headers);

it.each([
  ...['', 'x', 'x:80', 'x:', 'X_1.example.com.:65535', 'a%20b', "!$&'()*+;=~-", '127.0.0.1:3000'],
  ...['[::1]', '[2001:db8::192.0.2.1]:80'],
])('accepts the Host %j', async (host) => {
  expect((await get(`Host: ${host}`)).status).toBe(200);
});

it.each([
  ...[
    'a b/c',
    'a,b',
    'user@x',
    'x:99999',
    'x:65536',
    'x:-1',
    'x:1a',
    'x:1:2',
    ':80',
    '[::1',
    '::1',
  ],
  ...['[::1]x', '[::g]', '[fe80::1%25eth0]', '[v1.x]', 'a%2', 'a%zz', 'x/', 'x?', 'x#', 'http://x'],
  ...['a\\b', '"x"', '<x>', 'é'],
])('responds with 400 at every path to the Host %j', async (host) => {
  for (const path of ['/livez', '/nowhere', '/plants']) {
    const { status, error } = await send(`GET ${path} HTTP/1.1`, `Host: ${host}`);
    expect([status, error]).toEqual([400, 40002]);
  }
});

it('accepts a request of HTTP/1.0 without a Host', async () => {
  expect((await send('GET /livez HTTP/1.0')).status).toBe(200);
});

const create = 'POST /plants HTTP/1.1';
const coding = (name: string) => `Transfer-Encoding: ${name}`;
const typed = (type: string) => ['Host: x', authorization, type, 'Content-Length: 0'];

/** Sends the lines of a request, and expects an error with this code and this text in its message. */
async function expectRejected(lines: string[], code: number, message: string): Promise<void> {
  const { status, error, body } = await send(...lines);
  expect([status, error]).toEqual([Math.floor(code / 100), code]);
  expect(body).toContain(message);
}

it.each(['0.9', '2.0'])('responds with 400 to a request of HTTP/%s', (version) =>
  expectRejected([`GET /livez HTTP/${version}`, 'Host: x'], 40002, 'send HTTP/1.1'),
);

it('responds with 400 to two Content-Type headers', () => {
  const message = 'there is more than one Content-Type header: send one';
  return expectRejected([create, 'Host: x', contentType, contentType], 40002, message);
});

it.each(['gzip', 'x', 'chunked, gzip', 'chunked, chunked'])(
  'responds with 400 to the transfer coding %s, which does not show where the body ends',
  (name) => expectRejected([create, 'Host: x', coding(name)], 40002, 'must end with chunked'),
);

it.each(['BREW', 'get', 'GETX', 'DESCRIBE', 'M-UNKNOWN'])(
  'responds with 501 to the method %s',
  (method) =>
    expectRejected([`${method} / HTTP/1.1`, 'Host: x'], 50100, `there is no method ${method} here`),
);

it.each(['charset=', 'charset=""', 'charset= ; x=1'])(
  'responds with 415 to the empty charset in %j',
  (parameter) => {
    const lines = [create, ...typed(`${contentType}; ${parameter}`)];
    return expectRejected(lines, 41500, 'the charset is empty: send charset=utf-8');
  },
);

it.each(['gzip, chunked', 'gzip,chunked', 'x, chunked', 'identity, Chunked'])(
  'responds with 501 to the transfer coding %s, and then to the next request',
  async (name) => {
    const head = rawRequest('POST /plants', [coding(name)]);
    const { responses } = await sendRaw(server.url, `${head}0\r\n\r\n${lastRequest}`);
    expect(responses.map(({ status }) => status)).toEqual([501, 200]);
    expect(JSON.parse(responses[0]?.body ?? '')).toMatchObject({ error: 50100 });
  },
);

it.each(surfaces)(
  'responds to a request with a compressed body over $name with 415, and names the accepted encodings',
  async ({ path }) => {
    const headers = [...typed(contentType), 'Content-Encoding: gzip'];
    const { error, headers: received } = await send(`POST ${path} HTTP/1.1`, ...headers);
    expect(error).toBe(41500);
    expect(received.get('accept-encoding')).toBe('identity');
  },
);
