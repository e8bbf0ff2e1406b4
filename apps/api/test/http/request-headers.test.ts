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

it.each(['0.9', '2.0'])('responds with 400 to a request of HTTP/%s', async (version) => {
  const { error, body } = await send(`GET /livez HTTP/${version}`, 'Host: x');
  expect(error).toBe(40002);
  expect(body).toContain('send HTTP/1.1');
});

it('responds with 400 to two Content-Type headers', async () => {
  const { error, body } = await send('POST /plants HTTP/1.1', 'Host: x', contentType, contentType);
  expect(error).toBe(40002);
  expect(body).toContain('there is more than one Content-Type header: send one');
});

it.each(['gzip, chunked', 'gzip,chunked', 'x, chunked', 'identity, Chunked'])(
  'responds with 501 to the transfer coding %s, and then to the next request',
  async (coding) => {
    const head = rawRequest('POST /plants', [`Transfer-Encoding: ${coding}`]);
    const { responses } = await sendRaw(server.url, `${head}0\r\n\r\n${lastRequest}`);
    expect(responses.map(({ status }) => status)).toEqual([501, 200]);
    expect(JSON.parse(responses[0]?.body ?? '')).toMatchObject({ error: 50100 });
  },
);

it.each(['gzip', 'x', 'chunked, gzip', 'chunked, chunked'])(
  'responds with 400 to the transfer coding %s, which does not show where the body ends',
  async (coding) => {
    const { error } = await send(
      'POST /plants HTTP/1.1',
      'Host: x',
      `Transfer-Encoding: ${coding}`,
    );
    expect(error).toBe(40002);
  },
);

it.each(['BREW', 'get', 'GETX', 'DESCRIBE', 'M-UNKNOWN'])(
  'responds with 501 to the method %s',
  async (method) => {
    const { status, error, body } = await send(`${method} /plants HTTP/1.1`, 'Host: x');
    expect([status, error]).toEqual([501, 50100]);
    expect(body).toContain(`there is no method ${method} here`);
  },
);

it.each(surfaces)(
  'responds to a request with a compressed body over $name with 415, and names the accepted encodings',
  async ({ path }) => {
    const { error, headers } = await send(
      `POST ${path} HTTP/1.1`,
      'Host: x',
      authorization,
      contentType,
      'Content-Encoding: gzip',
      'Content-Length: 0',
    );
    expect(error).toBe(41500);
    expect(headers.get('accept-encoding')).toBe('identity');
  },
);

it.each(['charset=', 'charset=""', 'charset= ; x=1'])(
  'responds with 415 to the empty charset in %j',
  async (parameter) => {
    const { error, body } = await send(
      'POST /plants HTTP/1.1',
      'Host: x',
      authorization,
      `Content-Type: application/json; ${parameter}`,
      'Content-Length: 0',
    );
    expect(error).toBe(41500);
    expect(body).toContain('the charset is empty: send charset=utf-8');
  },
);
