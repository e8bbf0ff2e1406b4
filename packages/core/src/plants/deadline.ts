/** A point in time by `performance.now()`, in milliseconds: a call is answered before it. */
export type Deadline = number;

/** Milliseconds in which a call is answered when its caller sets no deadline. */
export const defaultTimeout = 5_000;

/** Options of the store's operations. */
export interface CallOptions {
  /** When the call is answered at the latest; after 5 s unless given. */
  readonly deadline?: Deadline | undefined;
}

/** Milliseconds that remain for a call. */
export function timeLeft({ deadline }: CallOptions = {}): number {
  return deadline === undefined ? defaultTimeout : Math.max(0, deadline - performance.now());
}
