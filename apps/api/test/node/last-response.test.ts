import { once } from 'node:events';
import { connect } from 'node:net';
import type { PlantStore } from '@plant-store/core';
import { beforeEach, expect, it, vi } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const create = vi.fn<PlantStore['create']>();
const server = shareServer({ create });

beforeEach(() => {
  create.mockReset().mockImplementation(async ({ name }) => ({ name }));
});

const authorization = 'Authorization: Bearer test-token\r\nContent-Type: application/json\r\n';
const plant = '{"id":1,"name":"x"}';

const post = (body: string, { path = '/plants', headers = '' } = {}) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization}${headers}` +
  `Content-Length: ${body.length}\r\n\r\n${body}`;
const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

it.each(surfaces)(
  'over $name, keeps the connection open after a body that is not JSON',
  async ({ path }) => {
    const { responses } = await sendRaw(server.url, post('{', { path }) + post(plant) + last);
    expect(responses.map(({ status }) => status)).toEqual([400, 200, 200]);
    expect(responses[0]?.headers.get('connection')).toBe('keep-alive');
    expect(responses[0]?.body).toContain('"error":40000,');
  },
);

it('closes the connection after a body that is not JSON when the client asks for the close', async () => {
  const { responses } = await sendRaw(server.url, post('{', { headers: 'Connection: close\r\n' }));
  expect(responses.map(({ status }) => status)).toEqual([400]);
  expect(responses[0]?.headers.get('connection')).toBe('close');
});

it('keeps the connection open after an expectation that the server does not support', async () => {
  const cake = post(plant, { headers: 'Expect: cake\r\n' });
  const { responses } = await sendRaw(server.url, cake + post(plant) + last);
  expect(responses.map(({ status }) => status)).toEqual([417, 200, 200]);
  expect(create).toHaveBeenCalledTimes(1);
});

const chunked = `${authorization}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;

it.each([
  ['a request with Connection: close', last, 200],
  ['a request of HTTP/1.0', 'GET /livez HTTP/1.0\r\n\r\n', 200],
  [
    'a request to upgrade',
    'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
    200,
  ],
  ['chunks over HTTP/1.0', `POST /plants HTTP/1.0\r\nConnection: keep-alive\r\n${chunked}`, 400],
  ['chunks over HTTP/2.0', `POST /plants HTTP/2.0\r\nHost: x\r\n${chunked}`, 400],
  ['an unknown method', 'BREW /plants HTTP/1.1\r\nHost: x\r\n\r\n', 501],
  ['malformed bytes', 'GET / HTTP/1.1\r\nA b: c\r\n\r\n', 400],
])('processes no request after %s', async (_what, request, status) => {
  const { responses } = await sendRaw(server.url, post(plant) + request + post(plant));
  expect(responses.map((response) => response.status)).toEqual([200, status]);
  expect(responses[1]?.headers.get('connection')).toBe('close');
  expect(create).toHaveBeenCalledTimes(1);
});

it('does not process a request whose body arrives after its error', async () => {
  const held = Promise.withResolvers<void>();
  create.mockImplementation(async ({ name }) => {
    await held.promise;
    return { name };
  });
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  // The error waits for the response to the first request, so the connection is open meanwhile.
  socket.write(post(plant) + post(plant).slice(0, -1));
  await vi.waitFor(() => expect(create).toHaveBeenCalled());
  const later = connect(Number(new URL(server.url).port), '127.0.0.1');
  later.write('GET /livez HTTP/1.1\r\n'); // This request times out after the request above.
  await server.requestsTimeOut(once(later.resume(), 'close'));
  socket.write('}');
  await fetch(`${server.url}/livez`);
  held.resolve();
  await once(socket, 'close');
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408']);
  expect(create).toHaveBeenCalledTimes(1);
});

it('sends one response to a request whose end is unknown, after a slow request', async () => {
  const unknownEnd = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}Transfer-Encoding: x\r\n\r\n`;
  const { responses } = await sendRaw(server.url, post(plant) + unknownEnd + post(plant));
  expect(responses.map(({ status }) => status)).toEqual([200, 400]);
  expect(create).toHaveBeenCalledTimes(1);
});
