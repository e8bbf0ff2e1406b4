import { type Scope, scopes } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { createCaller } from '../../src/procedures/router.ts';
import { openForSuite } from '../fixtures/open-store.ts';
import { freeId } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

const plant = () => ({ id: freeId(), name: 'Hoya' });

describe.each(profiles)('the procedures on $name', (profile) => {
  const suite = openForSuite(profile);
  const as = (scopes: readonly Scope[]) =>
    createCaller({ store: suite.store, principal: { name: 'Ann', scopes } });

  it('whoAmI describes the caller, and needs no scope', async () => {
    expect(await as([]).whoAmI()).toEqual({ name: 'Ann', scopes: [] });
    const expiresAt = new Date(Date.now() + 60_000);
    const principal = { name: 'Ben', scopes: ['plants:read' as const], expiresAt };
    expect(await createCaller({ store: suite.store, principal }).whoAmI()).toEqual(principal);
  });

  it('createPlant, getPlant and listPlants return the same plants as the store', async () => {
    const caller = as(scopes);
    const { id, name } = plant();
    expect(await caller.createPlant({ id, name })).toStrictEqual({ name });
    expect(await caller.getPlant({ id })).toEqual(await suite.store.get(id));
    expect(await caller.listPlants({ limit: 5 })).toEqual(await suite.store.list({ limit: 5 }));
  });
});
