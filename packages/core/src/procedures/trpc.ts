import type { Scope } from '@plant-store/schemas';
import { initTRPC } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import type { Principal } from '../access-tokens/principal.ts';
import type { PlantStore } from '../plant-store.ts';
import type { Deadline } from '../plants/deadline.ts';
import { transformer } from './transformer.ts';
import { describeError, errorShape } from './trpc-error.ts';

/** The context of a call, for its procedure. */
export interface Context {
  readonly store: PlantStore;
  /** The sender of the call. The adapter authenticates it before it calls a procedure. */
  readonly principal: Principal;
  /** The time by which the call is answered; 5 s from now by default. */
  readonly deadline?: Deadline | undefined;
}

/** What a procedure says about itself. */
export interface Meta extends OpenApiMeta {
  /** The scope that its caller needs. */
  readonly scope: Scope;
}

export const t = initTRPC
  .meta<Meta>()
  .context<Context>()
  .create({
    transformer,
    // By default tRPC adds stack traces to errors unless NODE_ENV is `production`.
    isDev: false,
    errorFormatter: ({ shape, error }) => errorShape(describeError(error), shape.data.path),
  });

export const procedure = t.procedure;
