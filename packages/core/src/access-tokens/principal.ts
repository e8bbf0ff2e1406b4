import type { Scope } from '@plant-store/schemas';

/** Who sends a request, and what it may do. */
export interface Principal {
  /** The name under which the access token was created. */
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/**
 * The principal of an access token, or undefined when the token is not valid. A remembered answer
 * comes without a promise, because every request needs one.
 */
export type Authentication = Principal | undefined | Promise<Principal | undefined>;
