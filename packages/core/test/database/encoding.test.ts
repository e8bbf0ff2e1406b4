import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';
import { closeAtEnd } from '../fixtures/databases.ts';

it('rejects a plant whose text does not fit the encoding of the database, and creates the other plants', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'), { encoding: 'LATIN1' });
  const store = await openPlantStore({ databaseUrl });
  const names = ['Café', '猫', 'Ficus', '🪴'];
  const creates = names.map((name, i) => store.create({ id: BigInt(i), name }));
  const outcomes = await Promise.allSettled(creates);
  expect(outcomes).toMatchObject([
    { value: { name: 'Café' } },
    { reason: { code: 40001, message: expect.stringContaining('SQLSTATE 22P05') } },
    { value: { name: 'Ficus' } },
    { reason: { code: 40001 } },
  ]);
  await store.close();
});

it('rejects a request whose text does not fit the encoding of the database', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'), { encoding: 'LATIN1' });
  const store = closeAtEnd(await openPlantStore({ databaseUrl }));
  const errors = await Promise.allSettled([
    store.list({ tag: '猫', limit: 10 }),
    store.list({ search: '猫', limit: 10 }),
    store.countUpTo(10, { tag: '猫' }),
    store.accessTokens.create('猫'),
  ]);
  const reason = { code: 40001, message: expect.stringContaining('SQLSTATE 22P05') };
  expect(errors).toMatchObject(errors.map(() => ({ reason })));
});
