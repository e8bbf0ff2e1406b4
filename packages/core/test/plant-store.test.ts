import { NewPlant, Plant, scopes } from '@plant-store/schemas';
import { createDatabase, hasPgBouncer, startPgBouncer } from '@plant-store/test-setup';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { DatabaseOptions } from '../src/index.ts';
import { openPlantStore, type PlantStore } from '../src/plant-store.ts';
import { createCaller } from '../src/procedures/router.ts';
import { embedded, server } from './fixtures/databases.ts';

const principal = { name: 'test', scopes };

const databases = [embedded, server];

if (hasPgBouncer) {
  databases.push({
    name: 'PgBouncer',
    provide: async () => {
      const pgBouncer = await startPgBouncer(await createDatabase(inject('postgresUrl')));
      return { options: { databaseUrl: pgBouncer.url }, remove: () => pgBouncer.stop() };
    },
  });
}

describe.each(databases)('a plant store on $name', ({ provide }) => {
  let options: DatabaseOptions;
  let remove: () => Promise<void>;
  let store: PlantStore;
  let lastId = 0n;
  const freeId = () => ++lastId;

  beforeAll(async () => {
    ({ options, remove } = await provide());
    store = await openPlantStore(options);
  });

  afterAll(async () => {
    await store.close();
    await remove();
  });

  it.each([
    { name: 'Pilea', tag: 'other' },
    { name: 'Pilea' },
    { name: 'other', tag: 'Urticaceae' },
  ])('rejects another plant with a taken id, and keeps the first plant (%#)', async (other) => {
    const plant = { id: freeId(), name: 'Pilea', tag: 'Urticaceae' };
    await store.create(plant);
    await expect(store.create({ id: plant.id, ...other })).rejects.toMatchObject({
      name: 'PlantStoreError',
      kind: 'idTaken',
      code: 40900,
      message: `id ${plant.id} belongs to another plant: choose an id that is free`,
    });
    await expect(store.create(plant)).resolves.toEqual({ name: 'Pilea', tag: 'Urticaceae' });
  });

  it('stores every text unchanged', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 50 }).filter((s) => !s.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, fc.option(text, { nil: undefined }), async (name, tag) => {
        const plant: NewPlant = { id: freeId(), name, ...(tag !== undefined && { tag }) };
        const first = await store.create(plant);
        // At the second create, the store compares the plant with the stored row.
        expect(await store.create(plant)).toStrictEqual(first);
        expect(first).toStrictEqual(Plant.parse(plant));
      }),
      { numRuns: 100, examples: [['\ufeffPilea', '\ufeff']] },
    );
  });

  it('settles concurrent creates of new, repeated and conflicting plants', async () => {
    const base = lastId + 1n;
    lastId += 100n;
    const creates = Array.from({ length: 1000 }, (_, i) => {
      const id = base + BigInt((i * 37) % 100);
      return { id, name: i % 3 === 0 ? 'other' : `plant ${id}` };
    });
    const outcomes = await Promise.allSettled(creates.map((plant) => store.create(plant)));
    const kept = new Map<bigint, string>();
    for (const [i, outcome] of outcomes.entries()) {
      const { id, name } = creates[i] ?? { id: -1n, name: '' };
      if (outcome.status === 'rejected') expect(outcome.reason.code).toBe(40900);
      else expect(kept.set(id, kept.get(id) ?? name).get(id)).toBe(name);
    }
    expect(kept.size).toBe(100);
  });

  it.each([{ id: 2 ** 60, name: 'x' }, { id: 5n, name: 'a\0' }, null])(
    'rejects an invalid plant in the store and in the procedure (%#)',
    async (input) => {
      const caller = createCaller({ store, principal });
      const invalid = input as never; // Untyped code can pass an input that is not a plant.
      await expect(store.create(invalid)).rejects.toMatchObject({ code: 40001 });
      await expect(caller.createPlant(invalid)).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        cause: { code: 40001 },
      });
    },
  );

  it('validates a plant only once for each call of the procedure or of the store', async () => {
    const checks = [NewPlant, Plant].map((schema) => vi.spyOn(schema, 'safeParse'));
    onTestFinished(() => checks.forEach((check) => void check.mockRestore()));
    const count = () => checks.flatMap(({ mock }) => mock.calls).length;
    await createCaller({ store, principal }).createPlant({ id: freeId(), name: 'Hoya' });
    expect(count()).toBe(1);
    await store.create({ id: freeId(), name: 'Hoya' });
    expect(count()).toBe(2);
  });

  it('creates many plants, and returns the outcome of each plant', async () => {
    const base = lastId + 1n;
    lastId += 1_000n;
    const plants: NewPlant[] = Array.from({ length: 998 }, (_, i) => {
      return { id: base + BigInt(i), name: `plant ${i}`, ...(i % 2 === 1 && { tag: 'odd' }) };
    });
    const first = { id: base, name: 'plant 0' };
    const outcomes = await store.createMany([...plants, first, { ...first, name: 'other' }]);
    expect(outcomes).toMatchObject([
      ...plants.map(({ id }) => ({ id, result: 'created' })),
      { id: base, result: 'exists' },
      { id: base, error: { kind: 'idTaken', code: 40900 } },
    ]);
    for (const plant of [plants[1], plants[997]]) {
      expect(await store.get(plant?.id ?? 0n)).toMatchObject(plant ?? {});
    }
    const again = await store.createMany(plants);
    expect(again).toEqual(plants.map(({ id }) => ({ id, result: 'exists' })));
  });

  it('returns an error for each plant when the deadline has already passed', async () => {
    const plants = Array.from({ length: 600 }, () => ({ id: freeId(), name: 'x' }));
    const outcomes = await store.createMany(plants, { deadline: performance.now() - 1 });
    expect(outcomes).toMatchObject(plants.map(({ id }) => ({ id, error: { code: 50300 } })));
    for (const { id } of [...plants.slice(0, 1), ...plants.slice(-1)]) {
      expect(await store.get(id)).toBeUndefined();
    }
  });

  it('counts plants up to a limit', async () => {
    const tag = `100%s \\ 'quoted' "tag" 🌻 ${freeId()}`;
    const plants = Array.from({ length: 7 }, () => ({ id: freeId(), name: 'x', tag }));
    await store.createMany(plants);
    expect(await store.countUpTo(100, { tag })).toBe(7);
    expect(await store.countUpTo(7, { tag })).toBe(7);
    expect(await store.countUpTo(3, { tag })).toBe(3);
    expect(await store.countUpTo(100, { tag: '100%s' })).toBe(0);
    expect(await store.countUpTo(1_000_000)).toBe(await store.count());
    expect(await store.countUpTo(5)).toBe(5);
  });

  it.each([new Error('from the listener'), 'a text'])(
    'settles the creates of a batch even when a listener throws (%s)',
    async (thrown) => {
      const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
      store.events.once('batch', () => {
        throw thrown;
      });
      onTestFinished(() => warn.mockRestore());
      await expect(store.create({ id: freeId(), name: 'x' })).resolves.toEqual({ name: 'x' });
      expect(warn).toHaveBeenCalledWith(thrown);
    },
  );

  it('contains the same plants after the store was closed and opened again', async () => {
    const plant = { id: freeId(), name: 'Ceropegia', tag: 'Apocynaceae' };
    await store.create(plant);
    await store.close();
    await expect(store.create(plant)).rejects.toMatchObject({ code: 50302 });
    store = await openPlantStore(options);
    await expect(store.create({ ...plant, name: 'x' })).rejects.toMatchObject({ code: 40900 });
    await expect(store.create(plant)).resolves.toEqual(Plant.parse(plant));
  });

  it('settles all earlier creates before it closes', async () => {
    const { options, remove } = await provide();
    const closing = await openPlantStore(options);
    const creates = Array.from({ length: 500 }, (_, i) =>
      closing.create({ id: BigInt(i), name: 'x' }),
    );
    const closed = closing.close();
    await expect(Promise.all(creates)).resolves.toHaveLength(500);
    await closed;
    await remove();
  });
});
