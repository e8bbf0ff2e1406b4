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
  /** The time by which the call ends. Default: in 5 s. */
  readonly deadline?: Deadline | undefined;
  readonly caller?: Caller | undefined;
  /** Runs a call's wait for changes. This function may reject the call before and after the wait. */
  readonly hold?: (<T>(wait: () => Promise<T>) => Promise<T>) | undefined;
  /** This function is called with each error that is a part of an output, and must not throw. */
  readonly onError?: ((error: PlantStoreError) => void) | undefined;
}

/**
 * The REST operation of a procedure, as trpc-to-openapi reads it. Core has its own declaration of this type,
 * so that core does not need trpc-to-openapi. The declaration is a type, because trpc-to-openapi does not
 * accept an interface, which has no index signature.
 */
export type ProcedureMeta = {
  /** The scope that the caller needs. With `none`, any valid access token is enough. */
  readonly scope: Scope | 'none';
  /** The name of the subscription that sends the output to a REST client that asks for events. */
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
