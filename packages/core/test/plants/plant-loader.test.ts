import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewPlant } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import type { LoadOutcome } from '../../src/plants/plant-loader.ts';

/** What creating the plants one after the other comes to, with what is stored by then. */
function createdInTurn(plants: NewPlant[], stored: Map<bigint, NewPlant>): string[] {
  return plants.map((plant) => {
    const there = stored.get(plant.id);
    if (there) return there.name === plant.name && there.tag === plant.tag ? 'present' : 'idTaken';
    if (plant.name === 'poison') return 'invalidInput';
    stored.set(plant.id, plant);
    return 'inserted';
  });
}

const kindOf = (outcome: LoadOutcome) => (typeof outcome === 'string' ? outcome : outcome.kind);

async function all(store: PlantStore, after: bigint): Promise<NewPlant[]> {
  const plants: NewPlant[] = [];
  for await (const page of store.read({ after })) {
    plants.push(...page.map(({ createdAt, ...plant }) => plant));
  }
  return plants;
}

const databases = [
  {
    name: 'PGlite',
    runs: 15,
    open: async () => {
      const dataDirectory = await mkdtemp(join(tmpdir(), 'plant-store-load-'));
      return {
        store: await openPlantStore({ dataDirectory }),
        remove: () => rm(dataDirectory, { recursive: true }),
      };
    },
  },
  {
    name: 'Postgres',
    runs: 40,
    open: async () => {
      const databaseUrl = await createDatabase(inject('postgresUrl'));
      const store = await openPlantStore({ databaseUrl });
      const sql = postgres(databaseUrl);
      await sql`alter table plants add constraint no_poison check (name <> 'poison')`;
      await sql.end();
      return { store, remove: async () => {} };
    },
  },
];

describe.each(databases)('loading many plants into $name', ({ name, runs, open }) => {
  let store: PlantStore;
  let remove: () => Promise<void>;
  let nextId = 0n;
  /** Ten ids that nobody else takes. */
  const tenIds = () => {
    nextId += 10n;
    return nextId;
  };

  beforeAll(async () => {
    ({ store, remove } = await open());
  });

  afterAll(async () => {
    await store.close();
    await remove();
  });

  it('comes to what creating them one after the other comes to', async () => {
    const names = [
      'Pilea',
      'Hoya\t\\N\r\n',
      '',
      '\ufeff',
      ...(name === 'Postgres' ? ['poison'] : []),
    ];
    const anyPlant = fc.record({
      id: fc.bigInt({ min: 0n, max: 9n }),
      name: fc.constantFrom(...names),
      tag: fc.constantFrom(undefined, '', '\\.', '🪴'),
    });
    const loads = fc.array(fc.array(anyPlant, { maxLength: 20 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(loads, async (some) => {
        const stored = new Map<bigint, NewPlant>();
        const first = tenIds();
        const plants = some.map((load) =>
          load.map(({ id, name, tag }) => ({
            id: first + id,
            name,
            ...(tag !== undefined && { tag }),
          })),
        );
        // The next is loaded before the one before is through, as an import does.
        const outcomes = await Promise.all(plants.map((load) => store.load(load)));
        expect(outcomes.map((load) => load.map(kindOf))).toEqual(
          plants.map((load) => createdInTurn(load, stored)),
        );
        const sorted = [...stored.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(await all(store, first - 1n)).toEqual(sorted);
      }),
      { numRuns: runs },
    );
  });

  it('tells a text that begins with a byte order mark from one that does not', async () => {
    const plant = { id: tenIds(), name: '\ufeffPilea', tag: '\ufeff' };
    await store.create(plant);
    await expect(store.create(plant)).resolves.toEqual({ name: '\ufeffPilea', tag: '\ufeff' });
    await expect(store.create({ ...plant, tag: '' })).rejects.toMatchObject({ kind: 'idTaken' });
  });

  it('refuses what is no plant, and stores the others', async () => {
    const id = tenIds();
    const outcomes = await store.load([
      { id: '1', name: 'x' },
      { id, name: 'x' },
      null,
      { id: 1n },
    ]);
    expect(outcomes.map(kindOf)).toEqual([
      'invalidInput',
      'inserted',
      'invalidInput',
      'invalidInput',
    ]);
    expect(await store.get(id)).toMatchObject({ id, name: 'x' });
  });

  it('reads the plants of a tag, after an id, since a moment, and so many at the most', async () => {
    const first = tenIds();
    const plantsFrom = (from: bigint) =>
      Array.from({ length: 4 }, (_, i) => ({
        id: from + BigInt(i),
        name: 'x',
        tag: i % 2 === 0 ? `even ${first}` : 'odd',
      }));
    await store.load(plantsFrom(first));
    const { createdAt: since } = (await store.get(first)) ?? {};
    const idsOf = async (query: Parameters<PlantStore['read']>[0]) =>
      (await Array.fromAsync(store.read(query))).flat().map(({ id }) => id - first);

    expect(await idsOf({ tag: `even ${first}` })).toEqual([0n, 2n]);
    expect(await idsOf({ after: first + 1n })).toEqual([2n, 3n]);
    expect(await idsOf({ after: first - 1n, limit: 3 })).toEqual([0n, 1n, 2n]);
    expect(await idsOf({ since })).toEqual([0n, 1n, 2n, 3n]);
    expect(await idsOf({ since: new Date(Date.now() + 60_000) })).toEqual([]);
  });

  it('reads no more at once than fits in a little memory, however long the plants are', async () => {
    const first = tenIds();
    const name = 'x'.repeat(700_000);
    await store.load([0n, 1n, 2n, 3n, 4n].map((id) => ({ id: first + id, name })));
    const pages = await Array.fromAsync(store.read({ after: first - 1n }));
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  });
});

it('says that the database is unavailable when it is', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const store = await openPlantStore({ databaseUrl });
  const sql = postgres(databaseUrl);
  await sql`drop table plants`;
  await sql.end();
  await expect(store.load([{ id: 1n, name: 'x' }])).rejects.toMatchObject({ code: 50300 });
  await expect(store.get(1n)).rejects.toMatchObject({ code: 50300 });
  await expect(store.read().next()).rejects.toMatchObject({ code: 50300 });
  await store.close();
});
