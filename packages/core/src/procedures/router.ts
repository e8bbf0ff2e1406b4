import * as accessTokens from './access-tokens.ts';
import { countPlants } from './count-plants.ts';
import { createPlant } from './create-plant.ts';
import { createPlants } from './create-plants.ts';
import { deletePlant } from './delete-plant.ts';
import { getPlant } from './get-plant.ts';
import { listPlantChanges } from './list-plant-changes.ts';
import { listPlants } from './list-plants.ts';
import { plantChanges } from './plant-changes.ts';
import { replacePlant } from './replace-plant.ts';
import { t } from './trpc/define.ts';
import * as webhooks from './webhooks.ts';
import { whoAmI } from './who-am-i.ts';

/**
 * All procedures of the store. Each procedure is a tRPC call, and most procedures are also REST operations.
 */
export const procedures = {
  createPlant,
  createPlants,
  getPlant,
  listPlants,
  countPlants,
  replacePlant,
  deletePlant,
  listPlantChanges,
  plantChanges,
  ...accessTokens,
  ...webhooks,
  whoAmI,
};

export const appRouter = t.router(procedures);

export type AppRouter = typeof appRouter;

/** Makes a factory for callers in this process: `createCaller({ store, principal })`. */
export const createCaller = t.createCallerFactory(appRouter);

export type { Context } from './trpc/define.ts';
export { errorShape, toStoreError } from './trpc/trpc-error.ts';
