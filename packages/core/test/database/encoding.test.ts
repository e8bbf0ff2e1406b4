import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';

it('rejects only the plants with characters that the encoding of the database does not have', async () => {
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
