import type { Operation, Scope } from '@plant-store/schemas';
import { initTRPC } from '@trpc/server';
import type { Principal } from '../../access-tokens/principals.ts';
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
  /** The call must end before this time. Default: 5 s after the call begins. */
  readonly deadline?: Deadline | undefined;
  readonly caller?: Caller | undefined;
  /** Runs `wait`, which waits for changes. `hold` may reject the call before or after the wait. */
  readonly hold?: (<T>(wait: () => Promise<T>) => Promise<T>) | undefined;
  /** This function is called with each error that is a part of an output, and must not throw. */
  readonly onError?: ((error: PlantStoreError) => void) | undefined;
}

/**
 * The metadata of a procedure, for trpc-to-openapi. Core declares the type itself, and so does not depend on
 * trpc-to-openapi. An interface would not have the index signature that trpc-to-openapi needs.
 */
export type ProcedureMeta = {
  /** The scope that the caller needs. With `none`, any valid access token is enough. */
  readonly scope: Scope | 'none';
  /** The name of the subscription whose output a REST client gets when the client asks for events. */
  readonly events?: string;
  /** Makes the procedure a tool for assistants, with this description. */
  readonly tool?: string;
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
