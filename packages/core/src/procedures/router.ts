import { createPlant } from './create-plant.ts';
import { deletePlant } from './delete-plant.ts';
import { getPlant } from './get-plant.ts';
import { listPlants } from './list-plants.ts';
import { requireScope } from './require-scope.ts';
import { runDirectly } from './run-procedure.ts';
import { t } from './trpc.ts';

/** Every procedure of the store. Each line is a tRPC call, a REST operation and its documentation. */
export const appRouter = t.router(
  runDirectly({ createPlant, getPlant, listPlants, deletePlant }, requireScope),
);

export type AppRouter = typeof appRouter;

/** Makes a caller, which runs the procedures in this process: `createCaller({ store, principal })`. */
export const createCaller = t.createCallerFactory(appRouter);

export type { Context } from './trpc.ts';
export { type DescribedError, describeError, errorShape } from './trpc-error.ts';
