import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createSignIn, type SignIn } from '../../src/auth/sign-in.ts';
import { expectError } from '../fixtures/expect-error.ts';
import { type ServerOnStore, shareStore } from '../fixtures/running-server.ts';

const startOnStore = shareStore();
let server: ServerOnStore;
let signIn: SignIn;

beforeEach(async () => {
  signIn = createSignIn('the-token');
  server = await startOnStore({ signIn, authFailureLimit: 3 });
});

afterEach(async () => {
  vi.useRealTimers();
  await server.stop();
});

async function send(body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/console/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const exchange = (code: unknown) => send(JSON.stringify({ code }));

it('exchanges the code only once, even when three requests send it at the same time', async () => {
  const responses = await Promise.all([1, 2, 3].map(() => exchange(signIn.code)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
  const accepted = responses.find(({ status }) => status === 200);
  expect(accepted?.body).toEqual({ token: 'the-token' });
  expect(accepted?.headers.get('cache-control')).toBe('no-store');
  expectError(await exchange(signIn.code), 401, 40101);
});

it('accepts the right code even after a wrong code', async () => {
  expectError(await exchange('a'.repeat(signIn.code.length)), 401, 40101);
  expectError(await exchange(''), 401, 40101);
  expect(await exchange(signIn.code)).toMatchObject({ status: 200 });
});

it.each([
  [10 * 60_000 - 1, 200],
  [10 * 60_000 + 1, 401],
])(
  'lets a code expire after ten minutes: at %i ms, the status is %i',
  async (milliseconds, status) => {
    vi.useFakeTimers({ toFake: ['performance'], now: 0 });
    const fresh = createSignIn('the-token');
    vi.advanceTimersByTime(milliseconds);
    expect(fresh.exchange(fresh.code)).toBe(status === 200 ? 'the-token' : undefined);
  },
);

it('rejects a client with 42900 when the client has sent three wrong codes', async () => {
  for (let i = 0; i < 3; i++) expectError(await exchange(`guess ${i}`), 401, 40101);
  const rejected = await exchange(signIn.code);
  expectError(rejected, 429, 42900);
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
});

it('rejects an invalid request with an error code of the catalogue', async () => {
  expectError(await send('{'), 400, 40000);
  expectError(await send('{}'), 400, 40001);
  expectError(await exchange(5), 400, 40001);
  expectError(await send('code', { 'content-type': 'text/plain' }), 415, 41500);
  expectError(await exchange('a'.repeat(2_000)), 413, 41300);
  const response = await fetch(`${server.url}/console/sign-in`);
  expectError({ status: response.status, body: await response.json() }, 405, 40500);
});

it('responds with 404 when the server has no token for the console', async () => {
  const other = await startOnStore();
  const { status } = await fetch(`${other.url}/console/sign-in`, { method: 'POST' });
  expect(status).toBe(404);
  await other.stop();
});

it('writes neither the code nor the token into the log', async () => {
  await exchange(signIn.code);
  await exchange('another');
  expect(server.log.join('\n')).toContain('/console/sign-in');
  for (const secret of [signIn.code, 'the-token']) {
    expect(server.log.join('\n')).not.toContain(secret);
  }
});
