/** Programs that compile only with correct types of the installed packages. */
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
