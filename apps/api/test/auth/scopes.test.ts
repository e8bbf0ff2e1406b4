import { appRouter, createCaller } from '@plant-store/core/router';
import { operations, type Scope, scopes } from '@plant-store/schemas';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { callers } from '../fixtures/callers.ts';
import { type IdentityProvider, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';

const plant = { id: 1, name: 'Hoya', tag: 'Apocynaceae' };
/** A value for each property that an input must have, and for the tag. */
const samples: Record<string, unknown> = { ...plant, plants: [plant] };

/** Every procedure that both surfaces have, with the scope that it names and an input. */
const calls = (Object.keys(operations) as (keyof typeof operations)[]).map((procedure) => {
  const { meta, inputs } = appRouter._def.procedures[procedure]._def as unknown as Definition;
  const names = Object.entries(inputs[0]?.shape ?? {}).filter(
    ([name, each]) => name in samples || !each.isOptional(),
  );
  const input = Object.fromEntries(names.map(([name]) => [name, samples[name]]));
  return { procedure, input, scope: meta.scope };
});

/** The parts of a procedure that are not in tRPC's public types. */
interface Definition {
  meta: { scope: Scope | 'none' };
  inputs: { shape: Record<string, { isOptional(): boolean }> }[];
}

/** Every set of scopes that a token can have. */
const mixtures: Scope[][] = Array.from({ length: 2 ** scopes.length }, (_, bits) =>
  scopes.filter((_scope, i) => (bits >> i) & 1),
);

let provider: IdentityProvider;
let server: RunningServer;

beforeAll(async () => {
  provider = await startIdentityProvider();
  await provider.addKey('first');
  server = await startServer('Postgres', { jwts: provider.settings });
});

afterAll(async () => {
  await server.stop();
  await provider.stop();
});

const createHoya = () => server.store.create({ ...plant, id: 1n });
beforeEach(createHoya);

const isGranted = (granted: readonly Scope[], scope: Scope | 'none') =>
  scope === 'none' || granted.includes(scope);

/** Expects that, over both surfaces, a token can call only the procedures that its scopes name. */
async function expectScopes(token: string, granted: readonly Scope[]): Promise<void> {
  for (const { procedure, input, scope } of calls) {
    for (const { name, call } of callers) {
      await createHoya();
      const { status, error, message, headers } = await call(
        { ...server, token },
        procedure,
        input,
      );
      const challenge = headers.get('www-authenticate');
      expect({ procedure, name, error, ...(error && { status, message, challenge }) }).toEqual({
        procedure,
        name,
        ...(!isGranted(granted, scope) && {
          error: 40300,
          status: 403,
          message: `the access token lacks the scope ${scope}: use a token that has it`,
          challenge: `Bearer realm="plant-store", error="insufficient_scope", scope="${scope}"`,
        }),
      });
    }
  }
}

it('each procedure names a scope', () => {
  expect(Object.fromEntries(calls.map(({ procedure, scope }) => [procedure, scope]))).toEqual({
    createPlant: 'plants:create',
    createPlants: 'plants:create',
    getPlant: 'plants:read',
    listPlants: 'plants:read',
    countPlants: 'plants:read',
    listPlantChanges: 'plants:read',
    deletePlant: 'plants:delete',
    whoAmI: 'none',
  });
});

it.each(mixtures.filter((granted) => granted.length > 0))(
  'a token with the scopes %s %s %s can call only the procedures that its scopes name',
  async (...granted) => {
    const token = await server.store.accessTokens.create('mixed', { scopes: granted });
    await expectScopes(token, granted);
  },
);

it.each([[], ['plants:read', 'plants:delete']] as const)(
  'a JWT with the scopes %s %s can call only the procedures that its scopes name',
  async (...granted) => {
    const scope = ['openid', ...granted, 'plants:unknown'].join(' ');
    await expectScopes(await provider.sign({ claims: { scope } }), granted);
  },
);

it.each(mixtures)(
  "core's caller with the scopes %s %s %s can call only the procedures that its scopes name",
  async (...granted) => {
    const caller = createCaller({
      store: server.store,
      principal: { name: 'Ann', scopes: granted },
    });
    for (const { procedure, input, scope } of calls) {
      await createHoya();
      const outcome = caller[procedure](input as never); // The inputs of `calls` fit.
      if (isGranted(granted, scope)) await outcome;
      else await expect(outcome).rejects.toMatchObject({ cause: { code: 40300 } });
    }
  },
);

it('a token needs the scope of each call in a batch over tRPC', async () => {
  const token = await server.store.accessTokens.create('reader', { scopes: ['plants:read'] });
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

it('an error for a missing scope does not describe an invalid input', async () => {
  const token = await server.store.accessTokens.create('creator', { scopes: ['plants:create'] });
  for (const { call } of callers) {
    const outcome = await call({ url: server.url, token }, 'getPlant', { id: 'x' });
    expect(outcome.error).toBe(40300);
  }
});

it('the log names the issuer of a JWT for the subject "environment", but no issuer for the token of the operator', async () => {
  const jwt = await provider.sign({ claims: { sub: 'environment' } });
  const { issuer } = provider.settings;
  for (const token of [jwt, server.token]) {
    await callers[0]?.call({ ...server, token }, 'createPlant', plant);
  }
  const lines = server.log.map((line) => JSON.parse(line));
  expect(lines).toContainEqual(expect.objectContaining({ principal: 'environment', issuer }));
  const others = lines.filter(({ principal }) => principal === 'tester');
  expect(others.length).toBeGreaterThan(0);
  for (const line of others) expect(line).not.toHaveProperty('issuer');
});

it('the log line of each request contains the scopes', async () => {
  const token = await server.store.accessTokens.create('logged', { scopes: ['plants:read'] });
  for (const { call } of callers) await call({ url: server.url, token }, 'listPlants', {});
  const lines = server.log.map((line) => JSON.parse(line));
  const logged = lines.filter(({ principal }) => principal === 'logged');
  expect(logged.map(({ scope }) => scope)).toEqual(['plants:read', 'plants:read']);
});
