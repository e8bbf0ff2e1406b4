import { describe, expect, it } from 'vitest';
import { openForSuite } from '../fixtures/open-store.ts';
import { createAll, freeId, idsOf, maxId, minId, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

describe.each(profiles)('delete on $name', (profile) => {
  const suite = openForSuite(profile);

  it('deletes a plant, and frees the id for another plant', async () => {
    for (const id of [freeId(), minId, maxId]) {
      await suite.store.create({ id, name: 'misspelt' });
      expect(await suite.store.delete(id)).toBe(true);
      expect(await suite.store.delete(id)).toBe(false);
      expect(await suite.store.get(id)).toBeUndefined();
      await suite.store.create({ id, name: 'Monstera' });
      expect(await suite.store.get(id)).toMatchObject({ name: 'Monstera' });
      await suite.store.delete(id);
    }
  });

  it('lets exactly one of several concurrent callers delete a plant', async () => {
    const plants = newPlants(20);
    await createAll(suite.store, plants);
    const ids = [...idsOf(plants), ...idsOf(plants.toReversed()), ...idsOf(plants)];
    const outcomes = await Promise.all(ids.map((id) => suite.store.delete(id)));
    expect(outcomes.filter(Boolean)).toHaveLength(20);
    for (const { id } of plants) expect(await suite.store.get(id)).toBeUndefined();
  });

  it('deletes a plant only for the first call whose condition is true', async () => {
    const id = freeId();
    await suite.store.create({ id, name: 'Hoya' });
    const etag = (await suite.store.get(id))?.etag;
    const changed = { kind: 'preconditionFailed', code: 41200 };
    const calls = ['1', etag, etag, undefined].map((ifMatch) =>
      suite.store.delete(id, { ifMatch }),
    );
    expect(await Promise.allSettled(calls)).toMatchObject([
      { status: 'rejected', reason: changed },
      { status: 'fulfilled', value: true },
      { status: 'rejected', reason: changed },
      { status: 'fulfilled', value: false },
    ]);
  });

  it('a concurrent create of the same id either succeeds or gets 40900', async () => {
    const ids = idsOf(newPlants(5));
    const race = async (seed: number) => {
      for (let i = 0; i < 40; i++) {
        const id = ids[(i + seed) % ids.length] ?? 0n;
        const name = `plant ${seed % 2}`;
        if ((i + seed) % 3 === 0) await suite.store.delete(id);
        else {
          const outcome = await suite.store.create({ id, name }).catch((error) => error.code);
          expect([40900, name]).toContain(outcome.name ?? outcome);
        }
      }
    };
    await Promise.all([1, 2, 3, 4, 5, 6].map(race));
  });
});
