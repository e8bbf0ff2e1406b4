import { type Scope, scopes } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { createCaller } from '../../src/procedures/router.ts';
import { openForSuite } from '../fixtures/open-store.ts';
import { freeId } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

type Caller = ReturnType<typeof createCaller>;

const plant = () => ({ id: freeId(), name: 'Hoya' });

const calls: [name: string, scope: Scope, call: (caller: Caller) => Promise<unknown>][] = [
  ['createPlant', 'plants:create', (caller) => caller.createPlant(plant())],
  ['createPlants', 'plants:create', (caller) => caller.createPlants({ plants: [plant()] })],
  ['getPlant', 'plants:read', (caller) => caller.getPlant({ id: 1n })],
  ['listPlants', 'plants:read', (caller) => caller.listPlants({})],
  ['countPlants', 'plants:read', (caller) => caller.countPlants({})],
  ['listPlantChanges', 'plants:read', (caller) => caller.listPlantChanges({})],
  ['plantChanges', 'plants:read', (caller) => caller.plantChanges({})],
  ['deletePlant', 'plants:delete', (caller) => caller.deletePlant({ id: 1n })],
  ['listAccessTokens', 'tokens:manage', (caller) => caller.listAccessTokens({})],
  [
    'createAccessToken',
    'tokens:manage',
    (caller) => caller.createAccessToken({ name: 'Ann', scopes: ['tokens:manage'] }),
  ],
  [
    'revokeAccessToken',
    'tokens:manage',
    (caller) => caller.revokeAccessToken({ id: '0'.repeat(16) }),
  ],
];

describe.each(profiles)('the procedures on $name', (profile) => {
  const suite = openForSuite(profile);
  const as = (scopes: readonly Scope[]) =>
    createCaller({ store: suite.store, principal: { name: 'Ann', scopes } });

  it.each(calls)('%s needs the scope %s', async (_, scope, call) => {
    const without = as(scopes.filter((each) => each !== scope));
    await expect(call(without)).rejects.toMatchObject({
      kind: 'insufficientScope',
      code: 40300,
      requiredScope: scope,
      message: `the access token lacks the scope ${scope}: use a token that has it`,
    });
    const [outcome] = await Promise.allSettled([call(as([scope]))]);
    expect(outcome).not.toMatchObject({ reason: { kind: 'insufficientScope' } });
  });

  it('whoAmI describes the caller, and needs no scope', async () => {
    expect(await as([]).whoAmI()).toEqual({ name: 'Ann', scopes: [] });
    const expiresAt = new Date(Date.now() + 60_000);
    const principal = { name: 'Ben', scopes: ['plants:read' as const], expiresAt };
    expect(await createCaller({ store: suite.store, principal }).whoAmI()).toEqual(principal);
  });

  it('a caller in the process gets the same plants as a caller of the store', async () => {
    const caller = as(scopes);
    const { id, name } = plant();
    expect(await caller.createPlant({ id, name })).toStrictEqual({ name });
    expect(await caller.getPlant({ id })).toEqual(await suite.store.get(id));
    expect(await caller.listPlants({ limit: 5 })).toEqual(await suite.store.list({ limit: 5 }));
  });
});
