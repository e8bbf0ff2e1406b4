import { runSql } from '@plant-store/test-setup';
import { describe, expect, it } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { callers, surfaceCallers } from '../fixtures/callers.ts';
import { shareServer, startForTest, storedPlants } from '../fixtures/server.ts';
import { post } from '../fixtures/surfaces.ts';

const server = shareServer();
const [rest] = callers;

const plantsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: BigInt(first + i), name: `plant ${first + i}` }));
const created = (id: bigint) => ({ id, result: 'created' });
const taken = (id: bigint) => expect.objectContaining({ id, error: 40900, result: 'error' });
const nameOf = async (id: bigint) =>
  Object((await rest.call(server, 'getPlant', { id })).output).name;

itNeedsTheScope('plants:create', server, 'createPlants', () => ({ plants: plantsFrom(1, 1) }));

describe.each(surfaceCallers)('createPlants over $name', ({ name, call }) => {
  const first = name === 'REST' ? 1_000 : 2_000;
  const createPlants = (plants: unknown) => call(server, 'createPlants', { plants });

  it('returns a result for each plant, in the order of the input', async () => {
    const plants = [
      { id: 2n ** 63n - BigInt(first), name: '🌻', tag: '' },
      { id: BigInt(first), name: 'a "quoted" \\ name', tag: 'NULL' },
      { id: -(2n ** 63n) + BigInt(first), name: 'NULL' },
    ];
    const { status, output } = await createPlants(plants);
    expect(status).toBe(200);
    expect(output).toStrictEqual({ results: plants.map(({ id }) => created(id)) });
    for (const plant of plants) {
      const { output } = await call(server, 'getPlant', { id: plant.id });
      expect(output).toMatchObject(plant);
    }
  });

  it('tells which plants exist already, and which ids belong to other plants', async () => {
    const [a = 0n, b = 0n, c = 0n] = plantsFrom(first + 100, 3).map(({ id }) => id);
    await createPlants([{ id: a, name: 'Hoya', tag: 'Apocynaceae' }]);
    const { output } = await createPlants([
      { id: b, name: 'Pilea' },
      { id: a, name: 'Hoya', tag: 'Apocynaceae' },
      { id: c, name: 'first of the list' },
      { id: c, name: 'second of the list' },
    ]);
    const exists = { id: a, result: 'exists' };
    expect(output).toEqual({ results: [created(b), exists, created(c), taken(c)] });
    const again = await createPlants([{ id: a, name: 'Hoya' }]);
    expect(again).toMatchObject({ status: 200, output: { results: [taken(a)] } });
    expect(await nameOf(c)).toBe('first of the list');
  });

  const valid = { id: BigInt(first + 300), name: 'x' };

  it.each([
    [[valid, { id: '302', name: 'x' }], 'plants[1].id'],
    [[...plantsFrom(first + 301, 3), { id: 304n }], 'plants[3].name'],
    [[{ ...valid, tag: '\0' }], 'plants[0].tag'],
    [[valid, null], 'plants[1]'],
    ...[[], plantsFrom(first + 301, 1_001), undefined, 'plants'].map((plants) => [
      plants,
      'plants',
    ]),
  ] as [unknown, string][])(
    'rejects the whole call for %#, and names %s',
    async (plants, place) => {
      const outcome = await createPlants(plants);
      expect(outcome).toMatchObject({ status: 400, error: 40001 });
      expect(outcome.message).toContain(place);
      expect(await nameOf(valid.id)).toBeUndefined();
    },
  );

  it('names only a few errors of an input with many errors', async () => {
    const { message } = await createPlants(Array.from({ length: 1_000 }, () => ({ id: 1.5 })));
    expect(message?.length).toBeLessThan(2_000);
  });

  it('gives a plant that the table rejects an error of its own, and creates the others', async () => {
    const own = await startForTest();
    await runSql(own.databaseUrl, "alter table plants add check (name <> 'poison')");
    const plants = plantsFrom(1, 600).map((plant) =>
      plant.id % 250n === 7n ? { ...plant, name: 'poison' } : plant,
    );
    const { output } = await call(own, 'createPlants', { plants });
    expect(output).toEqual({
      results: plants.map(({ id, name }) =>
        name === 'poison' ? expect.objectContaining({ id, error: 50001 }) : created(id),
      ),
    });
    expect(await storedPlants(own)).toHaveLength(597);
  });
});

it('accepts a body of 1 MiB with a thousand plants', async () => {
  const name = '🌻'.repeat(255);
  const plants = plantsFrom(10_000, 1_000).map(({ id }) => `{"id":${id},"name":"${name}"}`);
  const response = await post(server, '/plants/batch', `{"plants":[${plants}]}`);
  expect(response.status).toBe(200);
  expect((await response.text()).match(/"created"/g)).toHaveLength(1_000);
});
