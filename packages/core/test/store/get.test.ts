import { describe, expect, it } from 'vitest';
import { openForSuite } from '../fixtures/open-store.ts';
import { createAll, freeId, maxId, minId, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

describe.each(profiles)('get on $name', (profile) => {
  const suite = openForSuite(profile);

  it('returns the plant as it was created, with the time of its creation', async () => {
    const plant = { id: freeId(), name: '\ufeff Monstera 🌻', tag: '' };
    await suite.store.create(plant);
    const stored = await suite.store.get(plant.id);
    expect(stored).toEqual({
      ...plant,
      createdAt: expect.any(Date),
      etag: expect.stringMatching(/^\d+$/),
    });
    expect(Math.abs(Date.now() - Number(stored?.createdAt))).toBeLessThan(60_000);
  });

  it('returns no tag for a plant without a tag', async () => {
    const id = freeId();
    await suite.store.create({ id, name: 'x' });
    expect(await suite.store.get(id)).not.toHaveProperty('tag');
  });

  it('gives each of many concurrent callers the right plant', async () => {
    const plants = newPlants(300).map((each) => ({ ...each, name: `plant ${each.id}` }));
    await createAll(suite.store, plants);
    const ids = [...plants.map(({ id }) => id), minId, maxId, ...plants.map(({ id }) => id)];
    const found = await Promise.all(ids.map((id) => suite.store.get(id)));
    const expected = ids.map((id) => (id === minId || id === maxId ? undefined : `plant ${id}`));
    expect(found.map((plant) => plant?.name)).toEqual(expected);
  });
});
