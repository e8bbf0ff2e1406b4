/** Who sends a request: the name under which the access token was created. */
export interface Principal {
  readonly name: string;
}

/**
 * The principal of an access token, or undefined when the token is not valid. A remembered answer
 * comes without a promise, because every request needs one.
 */
export type Authentication = Principal | undefined | Promise<Principal | undefined>;
