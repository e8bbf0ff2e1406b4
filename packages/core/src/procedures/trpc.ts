import type { Scope } from '@plant-store/schemas';
import { initTRPC } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import type { Principal } from '../access-tokens/principal.ts';
import type { PlantStore } from '../plant-store.ts';
import type { Deadline } from '../plants/deadline.ts';
import { transformer } from './transformer.ts';
import { describeError, errorShape } from './trpc-error.ts';

/** What each call brings to a procedure. */
export interface Context {
  readonly store: PlantStore;
  /** Who calls. The adapter authenticates: no call reaches a procedure without a principal. */
  readonly principal: Principal;
  /** When the call is answered at the latest; after 5 s unless given. */
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
    // tRPC adds stacks to errors unless NODE_ENV is exactly `production`.
    isDev: false,
    errorFormatter: ({ shape, error }) => errorShape(describeError(error), shape.data.path),
  });

export const procedure = t.procedure;
