/** The sender of a request, known by the name of the access token. */
export interface Principal {
  readonly name: string;
}

/**
 * The principal of an access token, or undefined when the token is not valid. A cached principal is
 * returned without a promise, because awaiting one would cost every request some time.
 */
export type Authentication = Principal | undefined | Promise<Principal | undefined>;
