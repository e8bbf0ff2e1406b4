import { createDatabase } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';

let store: PlantStore;
beforeAll(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'), { encoding: 'LATIN1' });
  store = await openPlantStore({ databaseUrl });
});
afterAll(() => store.close());

it('rejects only the plants with characters that the encoding of the database does not have', async () => {
  const names = ['Café', '猫', 'Ficus', '🪴'];
  const creates = names.map((name, i) => store.create({ id: BigInt(i), name }));
  const outcomes = await Promise.allSettled(creates);
  expect(outcomes).toMatchObject([
    { value: { name: 'Café' } },
    { reason: { code: 40001, message: expect.stringContaining('SQLSTATE 22P05') } },
    { value: { name: 'Ficus' } },
    { reason: { code: 40001 } },
  ]);
});

it('rejects a list, a count and a name of a token whose text does not fit the encoding of the database', async () => {
  const [fitting, ...others] = await Promise.allSettled([
    store.list({ tag: 'Café', limit: 1 }),
    store.list({ tag: '猫', limit: 1 }),
    store.list({ search: '猫', limit: 1 }),
    store.countUpTo(1, { tag: '猫' }),
    store.accessTokens.create('猫'),
  ]);
  expect(fitting).toMatchObject({ value: { plants: [] } });
  const message = 'invalid input: the database cannot hold this text (SQLSTATE 22P05)';
  expect(others).toMatchObject(Array(4).fill({ reason: { code: 40001, message } }));
});
