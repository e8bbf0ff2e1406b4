/** Programs that test the types of the packed packages: the programs compile only with correct types. */
export const typedPrograms = {
  node: `
import type { PlantStore } from '@plant-store/core';
import { createCaller } from '@plant-store/core/router';
import { NewPlant, parseJson } from '@plant-store/schemas';

declare const store: PlantStore;
const principal = { name: 'x', scopes: ['plants:create'] } as const;
const plant = await createCaller({ store, principal }).createPlant({ id: 1, name: 'x' });
export const name: string = plant.name;
export const id: bigint = NewPlant.parse(parseJson('{}')).id;
// @ts-expect-error: a Plant has no id
plant.id;
// @ts-expect-error: an id is not a string
store.create({ id: '1', name: 'x' });
`,
  /** Tests for Jest. The tests use a Postgres that contains the plants of `internal-tool.ts`. */
  jest: `
import { createPlantStoreClient, plantStoreError } from '@plant-store/client';
import { openPlantStore } from '@plant-store/core';

test('the client reports a store that is down', async () => {
  const { getPlant } = createPlantStoreClient({ url: 'http://127.0.0.1:1', token: 'x', retry: false });
  const error = await getPlant.query({ id: 1n }).catch(plantStoreError);
  expect(error.kind).toBe('noResponse');
});

test('core reads a plant', async () => {
  const store = await openPlantStore({ databaseUrl: process.env.DATABASE_URL });
  expect(await store.get(9007199254740993n)).toMatchObject({ name: 'Ficus lyrata' });
  await store.close();
});
`,
  browserClient: `
import { createPlantStoreClient } from '@plant-store/client';

const { createPlant } = createPlantStoreClient({ url: '', token: '' });
export const plant: { name: string } = await createPlant.mutate({ id: 1n, name: 'x' });
// @ts-expect-error: an id is not a string
createPlant.mutate({ id: '1', name: 'x' });
`,
  browser: `
import { type AppRouter, createPlantStoreClient, plantStoreError } from '@plant-store/client';
import { NewPlant } from '@plant-store/schemas';
import type { inferRouterInputs } from '@trpc/server';

const token = () => localStorage.getItem('token') ?? '';
const { createPlant } = createPlantStoreClient({ url: '', token });
export const plant: { name: string } = await createPlant.mutate({ id: 1n, name: 'x' });
export const id: bigint = NewPlant.parse(new FormData()).id;
export type Input = inferRouterInputs<AppRouter>['createPlant'];
const error = plantStoreError(undefined);
if (error?.code === 40900) error.kind satisfies 'idTaken';
// @ts-expect-error: an id is not a string
createPlant.mutate({ id: '1', name: 'x' });
// @ts-expect-error: an id is not a string
({ id: '1', name: 'x' }) satisfies Input;
// @ts-expect-error: the packages do not bring Node's types along
process.exit();
`,
};
