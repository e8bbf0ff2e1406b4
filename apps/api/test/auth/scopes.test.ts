import { createCaller } from '@plant-store/core/router';
import { type Scope, scopes } from '@plant-store/schemas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callers } from '../fixtures/callers.ts';
import { type IdentityProvider, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { databases } from '../fixtures/surfaces.ts';

/** The scope that each call needs, and its result when it is allowed. */
const calls = [
  ['createPlant', { id: 1, name: 'Hoya' }, 'plants:create'],
  ['createPlants', { plants: [{ id: 1, name: 'Hoya' }] }, 'plants:create'],
  ['getPlant', { id: 1 }, 'plants:read'],
  ['listPlants', {}, 'plants:read'],
  ['countPlants', {}, 'plants:read'],
  ['deletePlant', { id: 1 }, 'plants:delete'],
] as const;

/** Every set of scopes that a token can have. */
const mixtures: Scope[][] = Array.from({ length: 2 ** scopes.length }, (_, bits) =>
  scopes.filter((_scope, i) => (bits >> i) & 1),
);

let provider: IdentityProvider;

beforeAll(async () => {
  provider = await startIdentityProvider();
  await provider.addKey('first');
});

afterAll(() => provider.stop());

describe.each(databases)('on %s', (database) => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer(database, { jwts: provider.settings });
  });

  afterAll(() => server.stop());

  /**
   * Calls every procedure over every surface. Returns the names of those that were not forbidden.
   */
  async function allowed(token: string): Promise<string[]> {
    const outcomes = [];
    for (const [procedure, input, scope] of calls) {
      for (const { name, call } of callers) {
        await server.store.create({ id: 1n, name: 'Hoya' });
        const outcome = await call({ url: server.url, token }, procedure, input);
        outcomes.push({ name: `${procedure} over ${name}`, scope, ...outcome });
      }
    }
    const forbidden = outcomes.filter(({ error }) => error === 40300);
    for (const { scope, status, message, headers } of forbidden) {
      expect({ status, message, challenge: headers.get('www-authenticate') }).toEqual({
        status: 403,
        message: `the access token lacks the scope ${scope}: use a token that has it`,
        challenge: `Bearer realm="plant-store", error="insufficient_scope", scope="${scope}"`,
      });
    }
    const others = outcomes.filter(({ error }) => error !== 40300);
    for (const { name, error } of others)
      expect({ name, error }).toEqual({ name, error: undefined });
    return others.map(({ name }) => name);
  }

  const callsWith = (granted: readonly Scope[]) =>
    calls
      .filter(([, , scope]) => granted.includes(scope))
      .flatMap(([procedure]) => callers.map(({ name }) => `${procedure} over ${name}`));

  it.each(mixtures.filter((granted) => granted.length > 0))(
    'a token with the scopes %s %s %s can do what they name, and nothing else',
    async (...granted) => {
      const token = await server.store.accessTokens.create('mixed', { scopes: granted });
      expect(await allowed(token)).toEqual(callsWith(granted));
    },
  );

  it.each(mixtures)(
    'a JWT with the scopes %s %s %s can do what they name, and nothing else',
    async (...granted) => {
      const scope = ['openid', ...granted, 'plants:unknown'].join(' ');
      const jwt = await provider.sign({ claims: { scope } });
      expect(await allowed(jwt)).toEqual(callsWith(granted));
    },
  );

  it('a JWT with a list of scopes can do what they name, and nothing else', async () => {
    const scope = ['openid', 'plants:read', 'plants:delete'];
    const jwt = await provider.sign({ claims: { scope } });
    expect(await allowed(jwt)).toEqual(callsWith(['plants:read', 'plants:delete']));
  });

  it('a JWT whose scopes are neither a text nor a list of texts can do nothing', async () => {
    expect(await allowed(await provider.sign({ claims: { scope: 7 } }))).toEqual([]);
  });

  it.each([[{}], [{ scope: 'openid email' }], [{ scope: ['openid'] }]])(
    'a JWT whose claims %j name no scope of ours can create',
    async (claims) => {
      expect(await allowed(await provider.sign({ claims }))).toEqual(callsWith(['plants:create']));
    },
  );

  it('a new token can create and read', async () => {
    const token = await server.store.accessTokens.create('new');
    expect(await allowed(token)).toEqual(callsWith(['plants:create', 'plants:read']));
  });

  it("the operator's own token can do everything", async () => {
    expect(await allowed(server.token)).toEqual(callsWith(scopes));
  });

  it.each(mixtures)(
    "core's caller with the scopes %s %s %s can do what they name, and nothing else",
    async (...granted) => {
      const caller = createCaller({
        store: server.store,
        principal: { name: 'Ann', scopes: granted },
      });
      for (const [procedure, input, scope] of calls) {
        await server.store.create({ id: 1n, name: 'Hoya' });
        const outcome = caller[procedure](input as never); // The inputs of `calls` fit.
        if (granted.includes(scope)) await outcome;
        else await expect(outcome).rejects.toMatchObject({ cause: { code: 40300 } });
      }
    },
  );

  it('a batch over tRPC checks each of its calls', async () => {
    const token = await server.store.accessTokens.create('reader', { scopes: ['plants:read'] });
    await server.store.create({ id: 1n, name: 'Hoya' });
    const response = await fetch(`${server.url}/trpc/deletePlant,createPlant?batch=1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"0":{"json":{"id":1}},"1":{"json":{"id":2,"name":"x"}}}',
    });
    const body = (await response.json()) as { error: { json: { data: { error: number } } } }[];
    expect(body.map(({ error }) => error.json.data.error)).toEqual([40300, 40300]);
    expect(await server.store.get(1n)).toMatchObject({ name: 'Hoya' });
    expect(await server.store.get(2n)).toBeUndefined();
  });

  it('a missing scope is reported before an invalid input, which the error does not describe', async () => {
    const token = await server.store.accessTokens.create('creator', { scopes: ['plants:create'] });
    for (const { call } of callers) {
      const outcome = await call({ url: server.url, token }, 'getPlant', { id: 'x' });
      expect(outcome.error).toBe(40300);
    }
  });

  it('a JWT for the subject "environment" has its issuer in the log, unlike the token of the operator', async () => {
    const jwt = await provider.sign({ claims: { sub: 'environment' } });
    const { issuer } = provider.settings;
    await callers[0]?.call({ url: server.url, token: jwt }, 'createPlant', {
      id: 1n,
      name: 'Hoya',
    });
    const lines = server.log.map((line) => JSON.parse(line));
    expect(lines).toContainEqual(expect.objectContaining({ principal: 'environment', issuer }));
    const others = lines.filter(({ principal }) => principal === 'tester');
    expect(others.length).toBeGreaterThan(0);
    for (const line of others) expect(line).not.toHaveProperty('issuer');
  });

  it('the scopes are in the log of each request', async () => {
    const token = await server.store.accessTokens.create('logged', { scopes: ['plants:read'] });
    for (const { call } of callers) await call({ url: server.url, token }, 'listPlants', {});
    const lines = server.log.map((line) => JSON.parse(line));
    const logged = lines.filter(({ principal }) => principal === 'logged');
    expect(logged.map(({ scope }) => scope)).toEqual(['plants:read', 'plants:read']);
  });
});
