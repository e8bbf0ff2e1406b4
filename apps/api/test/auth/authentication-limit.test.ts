import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { tokenInvalid } from '../../src/auth/authentication.ts';
import { limitAuthenticationErrors } from '../../src/auth/authentication-limit.ts';
import { type ServerOnStore, shareStore } from '../fixtures/running-server.ts';

const startOnStore = shareStore();
let server: ServerOnStore;

beforeEach(async () => {
  server = await startOnStore({ logLevel: 'silent', authFailureLimit: 3 });
});

afterEach(async () => {
  vi.useRealTimers();
  await server.stop();
});

const paths = ['/plants', '/trpc/createPlant'];

interface Request {
  from?: string;
  path?: string;
  headers?: Record<string, string>;
}

const send = (
  token: string,
  { from = '192.0.2.1', path = '/plants', headers = {} }: Request = {},
) =>
  server.inject({
    method: 'POST',
    url: path,
    remoteAddress: from,
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    payload: path === '/plants' ? { id: 1, name: 'x' } : { json: { id: 1, name: 'x' } },
  });

it('rejects all requests of an address for a minute after three requests without a valid token', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  for (const token of ['guess', '', 'another']) expect((await send(token)).statusCode).toBe(401);
  for (const path of paths) {
    for (const token of ['guess', '', 'test-token']) {
      const response = await send(token, { path, headers: { 'x-forwarded-for': '192.0.2.9' } });
      expect(response.statusCode).toBe(429);
      expect(response.headers['retry-after']).toBe('60');
      expect(response.body).toContain(
        'over 3 requests without a valid access token in a minute: try again in 60 seconds',
      );
    }
  }
  vi.advanceTimersByTime(59_999);
  expect((await send('test-token')).headers['retry-after']).toBe('1');
  vi.advanceTimersByTime(1);
  expect((await send('test-token')).statusCode).toBe(200);
  for (let i = 0; i < 3; i++) expect((await send('guess')).statusCode).toBe(401);
  expect((await send('test-token')).statusCode).toBe(429);
});

it('does not count a request with a valid token, even when the request gets 404 or 415', async () => {
  for (let i = 0; i < 4; i++) {
    expect((await send('test-token')).statusCode).toBe(200);
    expect((await send('test-token', { path: '/nothing' })).statusCode).toBe(404);
    expect(
      (await send('test-token', { headers: { 'content-type': 'text/plain' } })).statusCode,
    ).toBe(415);
  }
});

it('counts the error of an invalid token, and no other error', async () => {
  const authenticate = limitAuthenticationErrors(2);
  const fail = (error: Error) => authenticate('192.0.2.1', () => Promise.reject(error));
  const down = new Error('the identity provider is down');
  for (let i = 0; i < 3; i++) await expect(fail(down)).rejects.toBe(down);
  const invalid = tokenInvalid();
  for (let i = 0; i < 2; i++) await expect(fail(invalid)).rejects.toBe(invalid);
  expect(() => fail(invalid)).toThrow('over 2 requests without a valid access token');
});

it('checks at most three invalid tokens when many invalid tokens arrive at the same time', async () => {
  const responses = await Promise.all(Array.from({ length: 80 }, (_, i) => send(`guess-${i}`)));
  const statuses = responses.map(({ statusCode }) => statusCode).toSorted();
  expect(statuses).toEqual([401, 401, 401, ...Array(77).fill(429)]);
});

it('accepts any number of valid tokens that arrive at the same time', async () => {
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, i) => server.store.accessTokens.create(`client ${i}`)),
  );
  const responses = await Promise.all([send('guess'), ...tokens.map((token) => send(token))]);
  const statuses = responses.map(({ statusCode }) => statusCode);
  expect(statuses).toEqual([401, ...Array(20).fill(200)]);
});

it.each([
  ['of a /64', '2001:db8:0:1::1', '2001:0db8::1:ffff:2:3:4', '2001:db8:0:2::1'],
  ['of a link', 'fe80::1%eth0', 'fe80::2%eth1', 'fe80:0:0:1::1'],
  ['that are IPv4', '192.0.2.7', '::ffff:c000:207', '::ffff:192.0.2.8'],
])('counts two IP addresses %s as one client', async (_what, first, same, other) => {
  for (let i = 0; i < 3; i++) await send('guess', { from: first });
  expect((await send('guess', { from: same })).statusCode).toBe(429);
  expect((await send('guess', { from: other })).statusCode).toBe(401);
});
