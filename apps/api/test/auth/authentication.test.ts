import { setImmediate } from 'node:timers/promises';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { principalOf, requireToken, tokenSyntax } from '../../src/auth/authentication.ts';

const ann = { name: 'Ann', scopes: [] };

it.each([
  ['at once', () => ann],
  ['later', async () => ann],
])('gives a request the principal that `authenticate` returns %s', async (_, authenticate) => {
  const server = fastify();
  server.get('/', { onRequest: requireToken(authenticate) }, principalOf);
  const response = await server.inject({ url: '/', headers: { authorization: 'Bearer x' } });
  expect(response.json()).toEqual(ann);
});

it('checks a token a hundred times in several turns of the event loop, and rejects a token that has become invalid', async () => {
  let isValid = true;
  const server = fastify();
  const hook = requireToken(() => (isValid ? ann : undefined));
  server.get('/', { onRequest: hook }, async (request) => {
    const checks = Promise.all(Array.from({ length: 100 }, () => request.checkTokenAgain()));
    let turns = 0;
    let isDone = false;
    const done = checks.finally(() => {
      isDone = true;
    });
    for (; !isDone; turns++) await setImmediate();
    await done;
    isValid = false;
    return { turns, error: await request.checkTokenAgain().catch(({ kind }) => kind) };
  });
  const response = await server.inject({ url: '/', headers: { authorization: 'Bearer x' } });
  expect(response.json().turns).toBeGreaterThan(5);
  expect(response.json().error).toBe('tokenInvalid');
});

it.each([
  ['Bearer x', 'x'],
  ['bEARER   x', 'x'],
  ['Bearer x y', 'x y'],
])('finds the token in the header Authorization: %j', async (authorization, token) => {
  expect(await errorFor(authorization)).toMatchObject({
    kind: 'tokenInvalid',
    message: 'the access token is unknown, expired or revoked: ask the operator for a new one',
  });
  expect(asked.at(-1)).toBe(token);
});

const asked: string[] = [];

/** Sends the header `Authorization` to a server that accepts no token. Returns the error. */
async function errorFor(authorization: string): Promise<unknown> {
  let thrown: unknown;
  const server = fastify();
  const hook = requireToken((token) => void asked.push(token));
  server.get('/', { onRequest: hook }, () => 'not reached');
  server.setErrorHandler((error) => {
    thrown = error;
    return 'rejected';
  });
  expect((await server.inject({ url: '/', headers: { authorization } })).body).toBe('rejected');
  return thrown;
}

it('throws an error when a route needs the principal and lacks the hook requireToken', async () => {
  const server = fastify();
  server.get('/', (request) => principalOf(request));
  expect((await server.inject('/')).json()).toMatchObject({
    statusCode: 500,
    message: 'the hook requireToken is missing on this route',
  });
});

it.each([
  ...['a', 'plant_AZaz09-_', 'a.b~c+d/e-f', 'YWJj==', 'a='].map((token) => [token, true] as const),
  ...['', '=', 'a b', ' a', 'a ', 'a=b', 'ä', 'a,b', '"a"'].map((text) => [text, false] as const),
])('compares %j with the syntax of a token: %s', (text, isToken) => {
  expect(tokenSyntax.test(text)).toBe(isToken);
});
