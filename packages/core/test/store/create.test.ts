import { type NewPlant, Plant } from '@plant-store/schemas';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { openForSuite } from '../fixtures/open-store.ts';
import { freeId, maxId, minId, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

const plant = { name: 'Pilea', tag: 'Urticaceae' };

describe.each(profiles)('create on $name', (profile) => {
  const suite = openForSuite(profile);
  const create = (plant: NewPlant) => suite.store.create(plant);
  const storedName = async (id: bigint) => (await suite.store.get(id))?.name;

  it('returns the name and the tag of the plant, and nothing else', async () => {
    expect(await create({ id: freeId(), ...plant })).toStrictEqual(plant);
    expect(await create({ id: freeId(), name: '' })).toStrictEqual({ name: '' });
    expect(await create({ id: freeId(), name: 'x', tag: '' })).toStrictEqual({
      name: 'x',
      tag: '',
    });
    const more = { id: freeId(), name: 'x', colour: 'green' };
    expect(await create(more)).toStrictEqual({ name: 'x' });
  });

  it('accepts the same plant again', async () => {
    const id = freeId();
    for (let i = 0; i < 3; i++) expect(await create({ id, ...plant })).toEqual(plant);
  });

  it.each([
    { name: 'Pilea', tag: 'other' },
    { name: 'Pilea' },
    { name: 'Pilea', tag: '' },
    { name: 'other', tag: 'Urticaceae' },
  ])('rejects another plant with a taken id, and keeps the first plant (%#)', async (other) => {
    const id = freeId();
    await create({ id, ...plant });
    await expect(create({ id, ...other })).rejects.toMatchObject({
      name: 'PlantStoreError',
      kind: 'idTaken',
      code: 40900,
      message: `id ${id} belongs to another plant: choose an id that is free`,
    });
    expect(await suite.store.get(id)).toMatchObject(plant);
  });

  it('accepts exactly one of many concurrent creates of different plants with the same id', async () => {
    const id = freeId();
    const names = Array.from({ length: 200 }, (_, i) => `plant ${i}`);
    const options = { deadline: performance.now() + 60_000 };
    const creates = names.map((name) => suite.store.create({ id, name }, options));
    const outcomes = await Promise.allSettled(creates);
    const winners = names.filter((_, i) => outcomes[i]?.status === 'fulfilled');
    expect(winners).toEqual([await storedName(id)]);
    const losers = outcomes.filter(({ status }) => status === 'rejected');
    expect(losers).toMatchObject(losers.map(() => ({ reason: { code: 40900 } })));
  });

  it('gives each of many concurrent creates the right outcome', async () => {
    const ids = newPlants(100).map(({ id }) => id);
    const plants = Array.from({ length: 1_000 }, (_, i) => {
      const id = ids[(i * 37) % 100] ?? 0n;
      return { id, name: i % 3 === 0 ? 'other' : `plant ${id}` };
    });
    const outcomes = await Promise.allSettled(plants.map(create));
    const kept = new Map(
      await Promise.all(ids.map(async (id) => [id, await storedName(id)] as const)),
    );
    for (const [i, outcome] of outcomes.entries()) {
      const { id, name } = plants[i] ?? { id: 0n, name: '' };
      if (outcome.status === 'fulfilled') expect(name).toBe(kept.get(id));
      else expect([outcome.reason.code, name === kept.get(id)]).toEqual([40900, false]);
    }
  });

  it('keeps every int64 exactly', async () => {
    const ids = [minId, minId + 1n, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n + 1n, maxId - 1n, maxId];
    await Promise.all(ids.map((id) => create({ id, name: `plant ${id}` })));
    for (const id of ids) {
      expect(await suite.store.get(id)).toMatchObject({ id, name: `plant ${id}` });
      await suite.store.delete(id);
    }
  });

  it('stores every valid text unchanged', async () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 50 })
      .filter((each) => !each.includes('\0') && each.isWellFormed());
    const optional = fc.option(text, { nil: undefined });
    await fc.assert(
      fc.asyncProperty(text, optional, async (name, tag) => {
        const given: NewPlant = { id: freeId(), name, ...(tag !== undefined && { tag }) };
        const first = await create(given);
        // The second create compares the plant with the stored row.
        expect(await create(given)).toStrictEqual(first);
        expect(first).toStrictEqual(Plant.parse(given));
        expect(await suite.store.get(given.id)).toMatchObject(given);
      }),
      {
        numRuns: 60,
        examples: [
          ['\ufeffPilea', '\ufeff'],
          ['\\', "'"],
          ['é', 'e\u0301'],
        ],
      },
    );
  });

  it('stores a text of a megabyte', async () => {
    const [large = { id: 0n, name: '' }] = newPlants(1, { name: '🪴'.repeat(2 ** 18) });
    await create(large);
    expect((await storedName(large.id)) === large.name).toBe(true);
  });

  it('emits the event `batch` for each committed statement', async () => {
    const sizes: number[] = [];
    const record = ({ size }: { size: number }) => sizes.push(size);
    suite.store.events.on('batch', record);
    await Promise.all(newPlants(5).map(create));
    await expect.poll(() => sizes).toContain(5);
    suite.store.events.off('batch', record);
  });

  if (!profile.hasSql) return;

  describe('on a table with a constraint', () => {
    const poison = (id: bigint) => ({ id, name: 'poison' });

    beforeAll(async () => {
      await suite.sql`alter table plants add constraint no_poison check (name <> 'poison')`;
    });

    it('rejects only the plants that violate the constraint, and stores the other plants', async () => {
      const plants = newPlants(300).map((each, i) => (i % 50 === 7 ? poison(each.id) : each));
      const outcomes = await Promise.allSettled(plants.map(create));
      const expected = plants.map(({ name }) =>
        name === 'poison'
          ? { reason: { kind: 'plantRejected', code: 50001, databaseCode: '23514' } }
          : { value: { name: 'x' } },
      );
      expect(outcomes).toMatchObject(expected);
      const stored = await suite.sql`
        select from plants where id between ${String(plants[0]?.id)} and ${String(plants.at(-1)?.id)}`;
      expect(stored).toHaveLength(294);
    });

    it('gives an error with advice, but without SQL or the values of the plant', async () => {
      const error = await create(poison(freeId())).catch((error: Error) => error);
      expect(error).toMatchObject({
        message: expect.stringMatching(/SQLSTATE 23514.*nothing was written, tell the operator/),
      });
      expect(String(error)).not.toMatch(/insert|select|poison|no_poison/i);
    });
  });
});
