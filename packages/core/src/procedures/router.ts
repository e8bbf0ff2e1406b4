import { accessTokenProcedures } from './access-tokens.ts';
import { changeProcedures } from './changes.ts';
import { plantProcedures } from './plants.ts';
import { t } from './trpc/define.ts';
import { webhookProcedures } from './webhooks.ts';

/** All procedures of the store. Most procedures have a REST operation. */
export const procedures = {
  ...plantProcedures,
  ...changeProcedures,
  ...accessTokenProcedures,
  ...webhookProcedures,
};

export const appRouter = t.router(procedures);

export type AppRouter = typeof appRouter;

/** Makes a caller for this process: `createCaller({ store, principal })`. */
export const createCaller = t.createCallerFactory(appRouter);

export type { Context } from './trpc/define.ts';
export { errorShape, toStoreError } from './trpc/trpc-error.ts';
