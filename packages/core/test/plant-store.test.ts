import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NewPlant, Plant, scopes } from '@plant-store/schemas';
import { createDatabase, hasPgBouncer, startPgBouncer } from '@plant-store/test-setup';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { DatabaseOptions } from '../src/database/open-database.ts';
import { openPlantStore, type PlantStore } from '../src/plant-store.ts';
import { createCaller } from '../src/procedures/router.ts';

const principal = { name: 'test', scopes };

const databases: {
  name: string;
  provide: () => Promise<{ options: DatabaseOptions; remove: () => Promise<void> }>;
}[] = [
  {
    name: 'PGlite',
    provide: async () => {
      const dataDirectory = await mkdtemp(join(tmpdir(), 'plant-store-'));
      return {
        options: { dataDirectory },
        remove: () => rm(dataDirectory, { recursive: true }),
      };
    },
  },
  {
    name: 'Postgres',
    provide: async () => {
      const databaseUrl = await createDatabase(inject('postgresUrl'));
      return { options: { databaseUrl }, remove: async () => {} };
    },
  },
];

// Where the machine has it; it needs no setting of the user's.
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

  it('answers with the plant that it stored, without an id', async () => {
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    expect(await store.create({ id: freeId(), ...plant })).toStrictEqual(plant);
  });

  it('has no tag where none was given', async () => {
    const plant = await store.create({ id: freeId(), name: 'Ficus lyrata' });
    expect(plant).toStrictEqual({ name: 'Ficus lyrata' });
  });

  it('tells an empty tag from none', async () => {
    const id = freeId();
    expect(await store.create({ id, name: 'x', tag: '' })).toStrictEqual({ name: 'x', tag: '' });
    await expect(store.create({ id, name: 'x' })).rejects.toMatchObject({ kind: 'idTaken' });
  });

  it.each([-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, -1n, 0n])(
    'keeps the id %s apart from its neighbours',
    async (id) => {
      const name = `plant ${id}`;
      expect(await store.create({ id, name })).toEqual({ name });
      await expect(store.create({ id, name: 'another' })).rejects.toMatchObject({ code: 40900 });
    },
  );

  it('answers a repeated create as it did the first', async () => {
    const plant = { id: freeId(), name: 'Pilea', tag: 'Urticaceae' };
    const answers = [await store.create(plant), await store.create(plant)];
    expect(answers[0]).toStrictEqual(answers[1]);
  });

  it.each([
    { name: 'Pilea', tag: 'other' },
    { name: 'Pilea' },
    { name: 'other', tag: 'Urticaceae' },
  ])('refuses other content under a taken id and keeps the plant (%#)', async (other) => {
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

  it('lets exactly one of many racing creates have an id', async () => {
    const id = freeId();
    const racers = Array.from({ length: 50 }, (_, i) => store.create({ id, name: `racer ${i}` }));
    const outcomes = await Promise.allSettled(racers);
    const winners = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(winners).toHaveLength(1);
    const losers = outcomes.filter(({ status }) => status === 'rejected');
    for (const { reason } of losers as PromiseRejectedResult[]) expect(reason.code).toBe(40900);
  });

  it('keeps every text byte for byte', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 50 }).filter((s) => !s.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, fc.option(text, { nil: undefined }), async (name, tag) => {
        const plant: NewPlant = { id: freeId(), name, ...(tag !== undefined && { tag }) };
        const first = await store.create(plant);
        // The second answer is given after a comparison with the row that was read back.
        expect(await store.create(plant)).toStrictEqual(first);
        expect(first).toStrictEqual(Plant.parse(plant));
      }),
      { numRuns: 100 },
    );
  });

  it('keeps concurrent creates apart, in any mixture of new, repeated and conflicting', async () => {
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

  it.each([
    { id: '5', name: 'x' },
    { id: 5.5, name: 'x' },
    { id: 2 ** 60, name: 'x' },
    { id: null, name: 'x' },
    { id: true, name: 'x' },
    { id: 5n },
    { id: 5n, name: 'a\0' },
    { id: 5n, name: '\ud800' },
    { id: 5n, name: 'x', tag: null },
    null,
    [],
  ])(
    'refuses what is not a plant, through the store and through the caller (%#)',
    async (input) => {
      const caller = createCaller({ store, principal });
      const invalid = input as never; // A tool without types can send it.
      await expect(store.create(invalid)).rejects.toMatchObject({ code: 40001 });
      await expect(caller.createPlant(invalid)).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        cause: { code: 40001 },
      });
    },
  );

  it('is called through the procedure with the same outcome', async () => {
    const caller = createCaller({ store, principal });
    const plant = { id: Number(freeId()), name: 'Hoya', tag: 'Apocynaceae' };
    expect(await caller.createPlant(plant)).toStrictEqual({ name: 'Hoya', tag: 'Apocynaceae' });
    await expect(caller.createPlant({ ...plant, tag: 'x' })).rejects.toMatchObject({
      code: 'CONFLICT',
      cause: { name: 'PlantStoreError', kind: 'idTaken' },
    });
  });

  it('is ready', async () => {
    await expect(store.ready()).resolves.toBeUndefined();
  });

  it('keeps its plants when it is closed and opened again', async () => {
    const plant = { id: freeId(), name: 'Ceropegia', tag: 'Apocynaceae' };
    await store.create(plant);
    await store.close();
    await expect(store.create(plant)).rejects.toMatchObject({ code: 50302 });
    store = await openPlantStore(options);
    await expect(store.create({ ...plant, name: 'x' })).rejects.toMatchObject({ code: 40900 });
    await expect(store.create(plant)).resolves.toEqual(Plant.parse(plant));
  });

  it('finishes the creates under way before it closes', async () => {
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
