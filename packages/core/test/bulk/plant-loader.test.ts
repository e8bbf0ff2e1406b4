import type { NewPlant } from '@plant-store/schemas';
import { runSql } from '@plant-store/test-setup';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadOutcome } from '../../src/bulk/plant-loader.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { createStore, embedded, server } from '../fixtures/databases.ts';

/**
 * Predicts the outcomes when the plants are created one after the other. Adds the created plants to `stored`.
 */
function createInTurn(plants: NewPlant[], stored: Map<bigint, NewPlant>): string[] {
  return plants.map((plant) => {
    const present = stored.get(plant.id);
    if (present) {
      return present.name === plant.name && present.tag === plant.tag ? 'exists' : 'idTaken';
    }
    if (plant.name === 'poison') return 'plantRejected';
    stored.set(plant.id, plant);
    return 'created';
  });
}

const kindOf = (outcome: LoadOutcome) => (typeof outcome === 'string' ? outcome : outcome.kind);

async function readAll(store: PlantStore, after: bigint): Promise<NewPlant[]> {
  const plants: NewPlant[] = [];
  for await (const page of store.read({ after })) {
    plants.push(...page.map(({ createdAt, ...plant }) => plant));
  }
  return plants;
}

const names = ['Pilea', 'Hoya\t\\N\r\n', '', '\ufeff'];

describe.each([
  { ...embedded, runs: 15, names },
  { ...server, runs: 40, names: [...names, 'poison'] },
])('loading many plants into $name', ({ provide, runs, names }) => {
  let store: PlantStore;
  let remove: () => Promise<void>;
  let nextId = 0n;
  /** Returns the first of ten ids that no other test uses. */
  const tenFreeIds = () => {
    nextId += 10n;
    return nextId;
  };

  beforeAll(async () => {
    const database = await provide();
    remove = database.remove;
    store = await openPlantStore(database.options, { requireConnection: true });
    if (!('databaseUrl' in database.options)) return;
    const constraint = "add constraint no_poison check (name <> 'poison')";
    await runSql(database.options.databaseUrl, `alter table plants ${constraint}`);
  });

  afterAll(async () => {
    await store.close();
    await remove();
  });

  it('returns the same outcomes as when plants are created one after the other', async () => {
    const anyPlant = fc.record({
      id: fc.bigInt({ min: 0n, max: 9n }),
      name: fc.constantFrom(...names),
      tag: fc.constantFrom(undefined, '', '\\.', '🪴'),
    });
    const loads = fc.array(fc.array(anyPlant, { maxLength: 20 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(loads, async (generated) => {
        const stored = new Map<bigint, NewPlant>();
        const first = tenFreeIds();
        const plants = generated.map((load) =>
          load.map(({ id, name, tag }) => ({
            id: first + id,
            name,
            ...(tag !== undefined && { tag }),
          })),
        );
        const outcomes = await Promise.all(plants.map((load) => store.load(load)));
        expect(outcomes.map((load) => load.map(kindOf))).toEqual(
          plants.map((load) => createInTurn(load, stored)),
        );
        const sorted = [...stored.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(await readAll(store, first - 1n)).toEqual(sorted);
      }),
      { numRuns: runs },
    );
  });

  it('reports the invalid plants, and stores the valid plants', async () => {
    const id = tenFreeIds();
    const outcomes = await store.load([
      { id: '1', name: 'x' },
      { id, name: 'x' },
      null,
      { id: 1n },
    ]);
    expect(outcomes.map(kindOf)).toEqual([
      'invalidInput',
      'created',
      'invalidInput',
      'invalidInput',
    ]);
    expect(await store.get(id)).toMatchObject({ id, name: 'x' });
  });
});

it('throws databaseUnavailable when the table is missing', async () => {
  const { store, sql } = await createStore();
  await sql`drop table plants`;
  await expect(store.load([{ id: 1n, name: 'x' }])).rejects.toMatchObject({ code: 50300 });
  await expect(store.get(1n)).rejects.toMatchObject({ code: 50300 });
  await expect(store.read().next()).rejects.toMatchObject({ code: 50300 });
});
