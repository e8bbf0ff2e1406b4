import type { Operation, Scope } from '@plant-store/schemas';
import { initTRPC } from '@trpc/server';
import type { Principal } from '../../access-tokens/principal.ts';
import type { Caller, Deadline } from '../../database/deadline.ts';
import type { PlantStore } from '../../plant-store.ts';
import type { PlantStoreError } from '../../plant-store-error.ts';
import { transformer } from './transformer.ts';
import { errorShape, toCatalogueError } from './trpc-error.ts';

/** The context that a call passes to its procedure. */
export interface Context {
  readonly store: PlantStore;
  /** The sender of the call. The adapter authenticates the sender before it calls a procedure. */
  readonly principal: Principal;
  /** The time at which the call must have ended. Default: 5 s after the call begins. */
  readonly deadline?: Deadline | undefined;
  readonly caller?: Caller | undefined;
  /** Runs `wait`, which waits for changes. `hold` may reject the call before or after the wait. */
  readonly hold?: (<T>(wait: () => Promise<T>) => Promise<T>) | undefined;
  /** This function is called with each error that is a part of an output, and must not throw. */
  readonly onError?: ((error: PlantStoreError) => void) | undefined;
}

/**
 * The scope and the REST operation of a procedure, which trpc-to-openapi reads. Core has its own declaration
 * of this type, so that core does not need trpc-to-openapi. The declaration is a type, because an interface
 * has no index signature, and trpc-to-openapi needs an index signature.
 */
export type ProcedureMeta = {
  /** The scope that the caller needs. With `none`, any valid access token is enough. */
  readonly scope: Scope | 'none';
  /** When a REST client asks for events, the subscription with this name sends the output. */
  readonly events?: string;
  readonly openapi?: Operation & {
    readonly summary?: string;
    readonly description?: string;
    readonly tags?: string[];
    readonly successDescription?: string;
  };
};

export const t = initTRPC
  .meta<ProcedureMeta>()
  .context<Context>()
  .create({
    transformer,
    // By default, tRPC adds stack traces to errors unless NODE_ENV is `production`.
    isDev: false,
    errorFormatter: ({ shape, error }) => errorShape(toCatalogueError(error), shape.data.path),
  });
