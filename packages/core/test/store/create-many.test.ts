import { describe, expect, it } from 'vitest';
import { openForSuite } from '../fixtures/open-store.ts';
import { freeId, idsOf, listPages, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

describe.each(profiles)('create-many on $name', (profile) => {
  const suite = openForSuite(profile);

  it('creates 1,000 plants, and returns the outcomes in the order of the plants', async () => {
    const plants = newPlants(998, { name: 'many', tag: 'many' }).reverse();
    const [first = { id: 0n, name: '' }] = plants;
    const outcomes = await suite.store.createMany([...plants, first, { ...first, name: 'other' }]);
    expect(outcomes).toMatchObject([
      ...plants.map(({ id }) => ({ id, result: 'created' })),
      { id: first.id, result: 'exists' },
      { id: first.id, error: { kind: 'idTaken', code: 40900 } },
    ]);
    const stored = (await listPages(suite.store, { tag: 'many' })).flat();
    expect(idsOf(stored)).toEqual(idsOf(plants.toReversed()));
    const again = await suite.store.createMany(plants);
    expect(again).toEqual(plants.map(({ id }) => ({ id, result: 'exists' })));
  });

  it('creates the first of the plants with the same id', async () => {
    const [a, b] = [freeId(), freeId()];
    const plants = [
      { id: b, name: 'first' },
      { id: a, name: 'same' },
      { id: b, name: 'second' },
      { id: a, name: 'same' },
      { id: a, name: 'same', tag: '' },
    ];
    expect(await suite.store.createMany(plants)).toMatchObject([
      { id: b, result: 'created' },
      { id: a, result: 'created' },
      { id: b, error: { kind: 'idTaken' } },
      { id: a, result: 'exists' },
      { id: a, error: { kind: 'idTaken' } },
    ]);
    expect(await suite.store.get(b)).toMatchObject({ name: 'first' });
  });

  it('handles plants with the same id in one statement, so that they delay no other creates', async () => {
    const id = freeId();
    let statements = 0;
    suite.store.events.on('batch', () => (statements += 1));
    const plants = Array.from({ length: 500 }, (_, i) => ({ id, name: `${i % 250}` }));
    const outcomes = await suite.store.createMany(plants);
    suite.store.events.removeAllListeners('batch');
    expect(statements).toBe(1);
    expect(outcomes).toMatchObject(
      plants.map(({ name }, i) => {
        if (name !== '0') return { id, error: { code: 40900 } };
        return { id, result: i === 0 ? 'created' : 'exists' };
      }),
    );
  });

  it('lets overlapping calls in different orders all succeed', async () => {
    const plants = newPlants(600);
    const orders = [plants, plants.toReversed(), plants.slice(300), plants.toReversed()];
    const results = await Promise.all(orders.map((order) => suite.store.createMany(order)));
    const created = results.flat().filter((each) => 'result' in each && each.result === 'created');
    expect(created).toHaveLength(600);
    expect(results.flat().every((each) => 'result' in each)).toBe(true);
  });

  if (!profile.hasSql) return;

  it('rejects only the plants that the table rejects', async () => {
    await suite.sql`alter table plants add constraint no_poison check (name <> 'poison')`;
    const plants = newPlants(500).map((each, i) =>
      i % 100 === 3 ? { ...each, name: 'poison' } : each,
    );
    const expected = plants.map(({ id, name }) =>
      name === 'poison' ? { id, error: { code: 50001 } } : { id, result: 'created' },
    );
    expect(await suite.store.createMany(plants)).toMatchObject(expected);
  });
});
