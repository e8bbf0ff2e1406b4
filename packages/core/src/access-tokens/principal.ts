import type { Scope } from '@plant-store/schemas';

/** The sender of a request, and the scopes of the sender. */
export interface Principal {
  /** The name that the access token got at its creation. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The id of the access token. Absent if the token is not in the database. */
  readonly tokenId?: string | undefined;
  /** The time at which the access token expires. Absent when the token never expires. */
  readonly expiresAt?: Date | undefined;
  /**
   * The issuer of a JWT. Absent for other access tokens. A principal with an issuer and a principal without
   * an issuer may have the same name.
   */
  readonly issuer?: string | undefined;
}

/** The last time that RFC 3339 can represent. */
const lastTime = Date.UTC(9999, 11, 31);

/** Returns `expiresAt`, or undefined (as for no expiry) if RFC 3339 cannot represent the time. */
export function representable(expiresAt: Date | null | undefined): Date | undefined {
  return expiresAt && expiresAt.getTime() <= lastTime ? expiresAt : undefined;
}

/**
 * The principal of an access token, or undefined when the token is not valid. A cached principal is returned
 * without a promise, because awaiting a promise would cost every request some time.
 */
export type Authentication = Principal | undefined | Promise<Principal | undefined>;
