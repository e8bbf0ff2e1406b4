import { appRouter, createCaller } from '@plant-store/core/router';
import { operations, type Scope, scopes } from '@plant-store/schemas';
import { beforeEach, expect, it } from 'vitest';
import { callers } from '../fixtures/callers.ts';
import { shareJwtServer } from '../fixtures/jwt-server.ts';

const plant = { id: 1, name: 'Hoya', tag: 'Apocynaceae' };
const samples: Record<string, unknown> = { ...plant, plants: [plant], scopes: ['tokens:manage'] };

/** All procedures. Each entry has a valid input and the scope that the procedure requires. */
const calls = (Object.keys(operations) as (keyof typeof operations)[]).map((procedure) => {
  const { meta, inputs } = appRouter._def.procedures[procedure]._def as unknown as Definition;
  const names = Object.entries(inputs[0]?.shape ?? {}).filter(
    ([name, each]) => name in samples || !each.isOptional(),
  );
  const input = Object.fromEntries(names.map(([name]) => [name, samples[name]]));
  return { procedure, input, scope: meta.scope };
});

/** The parts of a procedure that tRPC's public types lack. */
interface Definition {
  meta: { scope: Scope | 'none' };
  inputs: { shape: Record<string, { isOptional(): boolean }> }[];
}

/** All possible sets of scopes. */
const mixtures: Scope[][] = Array.from({ length: 2 ** scopes.length }, (_, bits) =>
  scopes.filter((_scope, i) => (bits >> i) & 1),
);

const jwts = shareJwtServer();

const createHoya = () => jwts.server.store.create({ ...plant, id: 1n });
beforeEach(createHoya);

/** Returns the input of a call. For `revokeAccessToken`, creates the token that the call revokes. */
async function inputOf({ procedure, input }: (typeof calls)[number]): Promise<typeof input> {
  if (procedure !== 'revokeAccessToken') return input;
  const { accessTokens } = jwts.server.store;
  await accessTokens.create('to revoke');
  const { tokens } = await accessTokens.list();
  return { id: tokens.find(({ name }) => name === 'to revoke')?.id };
}

const isGranted = (granted: readonly Scope[], scope: Scope | 'none') =>
  scope === 'none' || granted.includes(scope);

/** Expects that a token can call only the procedures whose scope is granted. Checks REST and tRPC. */
async function expectScopes(token: string, granted: readonly Scope[]): Promise<void> {
  for (const each of calls) {
    const { procedure, scope } = each;
    for (const { name, call } of callers) {
      await createHoya();
      const target = { ...jwts.server, token };
      const { status, error, message, headers } = await call(
        target,
        procedure,
        await inputOf(each),
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

it('finds the scope of each procedure', () => {
  expect(Object.fromEntries(calls.map(({ procedure, scope }) => [procedure, scope]))).toEqual({
    createPlant: 'plants:create',
    createPlants: 'plants:create',
    getPlant: 'plants:read',
    listPlants: 'plants:read',
    countPlants: 'plants:read',
    listPlantChanges: 'plants:read',
    deletePlant: 'plants:delete',
    listAccessTokens: 'tokens:manage',
    createAccessToken: 'tokens:manage',
    revokeAccessToken: 'tokens:manage',
    whoAmI: 'none',
  });
});

it.each(mixtures.filter((granted) => granted.length > 0))(
  'lets a token with the scopes %s %s %s %s call only the procedures that name one of these scopes',
  async (...granted) => {
    const token = await jwts.server.store.accessTokens.create('mixed', { scopes: granted });
    await expectScopes(token, granted);
  },
);

it.each([[], ['plants:read', 'plants:delete']] as const)(
  'lets a JWT with the scopes %s %s call only the procedures that name one of these scopes',
  async (...granted) => {
    const scope = ['openid', ...granted, 'plants:unknown'].join(' ');
    await expectScopes(await jwts.provider.sign({ claims: { scope } }), granted);
  },
);

it.each(mixtures)(
  "lets core's caller with the scopes %s %s %s %s call only the procedures that name one of these scopes",
  async (...granted) => {
    const caller = createCaller({
      store: jwts.server.store,
      principal: { name: 'Ann', scopes: granted },
    });
    for (const each of calls) {
      const { procedure, scope } = each;
      await createHoya();
      // The cast is safe, because each entry of `calls` has the input type of its procedure.
      const outcome = caller[procedure]((await inputOf(each)) as never);
      if (isGranted(granted, scope)) await outcome;
      else await expect(outcome).rejects.toMatchObject({ cause: { code: 40300 } });
    }
  },
);

it('rejects each call of a batch over tRPC when the token lacks the scope of that call', async () => {
  const token = await jwts.server.store.accessTokens.create('reader', { scopes: ['plants:read'] });
  const response = await fetch(`${jwts.server.url}/trpc/deletePlant,createPlant?batch=1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"0":{"json":{"id":1}},"1":{"json":{"id":2,"name":"x"}}}',
  });
  const body = (await response.json()) as { error: { json: { data: { error: number } } } }[];
  expect(body.map(({ error }) => error.json.data.error)).toEqual([40300, 40300]);
  expect(await jwts.server.store.get(1n)).toMatchObject({ name: 'Hoya' });
  expect(await jwts.server.store.get(2n)).toBeUndefined();
});

it('responds with 40300 to a call without the required scope, even when the input is also invalid', async () => {
  const token = await jwts.server.store.accessTokens.create('creator', {
    scopes: ['plants:create'],
  });
  for (const { call } of callers) {
    const outcome = await call({ ...jwts.server, token }, 'getPlant', { id: 'x' });
    expect(outcome.error).toBe(40300);
  }
});

it('logs the issuer of a JWT, and no issuer for a static token', async () => {
  const jwt = await jwts.provider.sign({ claims: { sub: 'environment' } });
  const { issuer } = jwts.provider.settings;
  for (const token of [jwt, jwts.server.token]) {
    await callers[0]?.call({ ...jwts.server, token }, 'createPlant', plant);
  }
  const lines = jwts.server.log.map((line) => JSON.parse(line));
  expect(lines).toContainEqual(expect.objectContaining({ principal: 'environment', issuer }));
  const others = lines.filter(({ principal }) => principal === 'tester');
  expect(others.length).toBeGreaterThan(0);
  for (const line of others) expect(line).not.toHaveProperty('issuer');
});
