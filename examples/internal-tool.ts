/**
 * An internal tool that opens the database with the package core, without a server.
 *
 *   npx -y pnpm exec node examples/internal-tool.ts ./some-directory
 *   npx -y pnpm exec node examples/internal-tool.ts postgres://user:password@host:5432/database
 */
import { openPlantStore, PlantStoreError } from '@plant-store/core';
import { createCaller } from '@plant-store/core/router';

const where = process.argv[2] ?? '.plant-store-example';
const store = await openPlantStore(
  where.startsWith('postgres') ? { databaseUrl: where } : { dataDirectory: where },
);

// The procedures check their input. An id in the input may be a number.
const { createPlant, getPlant } = createCaller({
  store,
  principal: { name: 'internal-tool', scopes: ['plants:create', 'plants:read'] },
});
const monstera = await createPlant({ id: 1, name: 'Monstera deliciosa', tag: 'Araceae' });
console.log('created', monstera);
console.log('read', (await getPlant({ id: 1 })).name);

// A tool can also call the store directly. The ids of the store are bigints, which are exact beyond 2^53.
const plants = ['Ficus lyrata', 'Hoya carnosa', 'Pilea peperomioides'];
const created = await Promise.all(
  plants.map((name, i) => store.create({ id: 9007199254740993n + BigInt(i), name })),
);
console.log('created', created.length, 'more');
const page = await store.list({ after: 1n, limit: 2 });
console.log('read', page.plants.length, 'of them; the next page is after', page.next);

// The id 1 already belongs to a plant.
try {
  await store.create({ id: 1n, name: 'Ficus lyrata' });
} catch (error) {
  if (!(error instanceof PlantStoreError) || error.kind !== 'idTaken') throw error;
  console.log('rejected', error.code, error.message);
}

await store.close();
