/**
 * An internal tool: it imports core and works on the store directly, without HTTP.
 *
 *   npx pnpm exec node examples/internal-tool.ts ./some-directory
 *   npx pnpm exec node examples/internal-tool.ts postgres://user:password@host:5432/database
 */
import { openPlantStore, PlantStoreError } from '@plant-store/core';
import { createCaller } from '@plant-store/core/router';

const where = process.argv[2] ?? '.plant-store-example';
const store = await openPlantStore(
  where.startsWith('postgres') ? { databaseUrl: where } : { dataDirectory: where },
);

// Calls the procedure, as tRPC and REST do. The procedure checks its input; an id may be a number.
const { createPlant } = createCaller({ store, principal: { name: 'internal-tool' } });
const monstera = await createPlant({ id: 1, name: 'Monstera deliciosa', tag: 'Araceae' });
console.log('created', monstera);

// Calls the store. Its ids are bigints, which are exact beyond 2^53.
const plants = ['Ficus lyrata', 'Hoya carnosa', 'Pilea peperomioides'];
const created = await Promise.all(
  plants.map((name, i) => store.create({ id: 9007199254740993n + BigInt(i), name })),
);
console.log('created', created.length, 'more');

// An id belongs to one plant forever.
try {
  await store.create({ id: 1n, name: 'Ficus lyrata' });
} catch (error) {
  if (!(error instanceof PlantStoreError) || error.kind !== 'idTaken') throw error;
  console.log('refused', error.code, error.message);
}

await store.close();
