import { setImmediate } from 'node:timers/promises';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { principalOf, requireToken, tokenSyntax } from '../../src/auth/authentication.ts';

const ann = { name: 'Ann', scopes: [] };

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
