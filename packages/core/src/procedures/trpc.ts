import { initTRPC, type TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { flattenError, ZodError } from 'zod';
import type { PlantStore } from '../plant-store.ts';
import { type PlantStoreError, toPlantStoreError } from '../plant-store-error.ts';
import type { Principal } from '../access-tokens/principal-cache.ts';
import { transformer } from './transformer.ts';

/** What a procedure is given with each call. */
export interface Context {
  readonly store: PlantStore;
  /** Who calls. Authentication is the adapter's: no call reaches a procedure without a principal. */
  readonly principal: Principal;
  /** Milliseconds in which the call is answered; 5000 unless given. */
  readonly within?: number | undefined;
}

export const t = initTRPC
  .meta<OpenApiMeta>()
  .context<Context>()
  .create({
    transformer,
    // tRPC adds stacks to errors unless NODE_ENV is exactly `production`.
    isDev: false,
    errorFormatter: ({ shape, error }) => ({ ...shape, ...catalogued(shape.data.path, error) }),
  });

/** The base of every procedure: whatever goes wrong in it is thrown as a PlantStoreError. */
export const procedure = t.procedure.use(async ({ next }) => {
  const result = await next();
  if (!result.ok) throw toPlantStoreError(result.error);
  return result;
});

/** The part of a tRPC error that differs from tRPC's own: a masked message and the catalogue's number. */
function catalogued(path: string | undefined, thrown: TRPCError) {
  const failure = toPlantStoreError(thrown);
  const { code, status: httpStatus, error, message } = failure;
  const fields = fieldsOf(failure);
  const data = { code, httpStatus, error, ...(path !== undefined && { path }) };
  return { message, data: { ...data, ...(fields && { fields }) } };
}

/** What is wrong with each field of an input, for forms to show beside it. */
function fieldsOf({ kind, cause }: PlantStoreError): Record<string, string[]> | undefined {
  if (kind !== 'invalidInput' || !(cause instanceof ZodError)) return undefined;
  return flattenError(cause).fieldErrors;
}
