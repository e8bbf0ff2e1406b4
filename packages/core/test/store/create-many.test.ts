import { describe, expect, it } from 'vitest';
import { holdOpen, openAnother, openForSuite } from '../fixtures/open-store.ts';
import { freeId, idsOf, listPages, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

describe.each(profiles)('createMany on $name', (profile) => {
  const suite = openForSuite(profile);

  it('accepts a list of 1,000 plants, and returns the outcomes in the order of the plants', async () => {
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

  it('sends plants with the same id in one statement', async () => {
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

  if (!profile.hasSql) return;

  const hold = (id: bigint) =>
    holdOpen(suite.sql, `insert into plants (id, name) values (${id}, 'uncommitted')`);

  it('succeeds when two instances create the same plants in opposite orders', async () => {
    const plants = newPlants(600);
    const other = await openAnother(suite.options);
    const release = await hold((plants[0]?.id ?? 0n) + 300n);
    const calls = [suite.store.createMany(plants), other.createMany(plants.toReversed())];
    await expect.poll(() => suite.sql.unsafe(profile.selectLockWaits)).toHaveLength(2);
    await release();
    const outcomes = (await Promise.all(calls)).flat();
    const results = outcomes.map((each) => 'result' in each && each.result);
    expect(results.filter((result) => result === 'created')).toHaveLength(600);
    expect(results).not.toContain(false);
  });

  it('creates only the first of several plants with the same id, even when two statements send the plants', async () => {
    const options = { deadline: performance.now() + 60_000 };
    const [last = { id: 0n, name: '' }, ...before] = newPlants(4_001);
    const release = await hold(last.id + 1n);
    for (const plant of before) void suite.store.create(plant, options);
    const id = freeId();
    const plants = [{ id, name: 'first' }, ...newPlants(997), { id, name: 'second' }, last];
    const outcomes = suite.store.createMany(plants, options);
    await expect.poll(() => suite.store.get(last.id)).toMatchObject(last);
    await release();
    expect((await outcomes)[0]).toEqual({ id, result: 'created' });
  });

  it('rejects only the plants that violate a constraint', async () => {
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
