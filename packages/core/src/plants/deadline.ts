/** The time by which a call must be answered, in milliseconds on the clock of `performance.now()`. */
export type Deadline = number;

/** Milliseconds within which a call is answered when its caller sets no deadline. */
export const defaultTimeout = 5_000;

/** The sender of a call. Work that waits is dropped when it is gone. */
export interface Caller {
  readonly isGone: boolean;
}

/** Options of the store's operations. */
export interface CallOptions {
  /** When the call is answered at the latest; after 5 s unless given. */
  readonly deadline?: Deadline | undefined;
  readonly caller?: Caller | undefined;
}

/** Milliseconds that remain for a call. */
export function timeLeft({ deadline }: CallOptions = {}): number {
  return deadline === undefined ? defaultTimeout : Math.max(0, deadline - performance.now());
}
