import { countPlants } from './count-plants.ts';
import { createPlant } from './create-plant.ts';
import { createPlants } from './create-plants.ts';
import { deletePlant } from './delete-plant.ts';
import { getPlant } from './get-plant.ts';
import { listPlantChanges } from './list-plant-changes.ts';
import { listPlants } from './list-plants.ts';
import { plantChanges } from './plant-changes.ts';
import { t } from './trpc/trpc.ts';
import { whoAmI } from './who-am-i.ts';

/** Every procedure of the store. Each one is a tRPC call and a REST operation with its documentation. */
export const procedures = {
  createPlant,
  createPlants,
  getPlant,
  listPlants,
  countPlants,
  deletePlant,
  listPlantChanges,
  plantChanges,
  whoAmI,
};

export const appRouter = t.router(procedures);

export type AppRouter = typeof appRouter;

/** Makes a caller that runs the procedures in this process: `createCaller({ store, principal })`. */
export const createCaller = t.createCallerFactory(appRouter);

export type { Context } from './trpc/trpc.ts';
export { type CatalogueError, errorShape, toCatalogueError } from './trpc/trpc-error.ts';
