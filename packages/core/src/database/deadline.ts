/** The time by which a call ends, in milliseconds on the clock of `performance.now()`. */
export type Deadline = number;

/** The sender of a call. When the sender disconnects, waiting work of the call is dropped. */
export interface Caller {
  readonly isGone: boolean;
  /**
   * Reserves memory for a page of up to `bytes` bytes, before its statement is sent. Returns a function,
   * which must be called with the actual bytes of the page.
   *
   * @throws PlantStoreError `overloaded`
   */
  reserve?(bytes: number): (bytes: number) => void;
}

/** Options of the store's operations. */
export interface CallOptions {
  /** The time by which the call ends. Default: in 5 s. */
  readonly deadline?: Deadline | undefined;
  readonly caller?: Caller | undefined;
}

/** Milliseconds within which a call ends when its caller sets no deadline. */
export const defaultTimeout = 5_000;

/** Milliseconds for a statement about many plants. */
export const bulkTimeout = 10 * 60_000;

/** The deadline of a call. */
export function deadlineOf({ deadline = deadlineIn(defaultTimeout) }: CallOptions = {}): Deadline {
  return deadline;
}

/** The deadline in the given milliseconds. */
export function deadlineIn(milliseconds: number): Deadline {
  return performance.now() + milliseconds;
}

/** A longer timer would fire at once (https://nodejs.org/api/timers.html#settimeoutcallback-delay-args). */
const longestTimer = 2 ** 31 - 1;

/** Calls a function at a deadline. */
export function atDeadline(deadline: Deadline, callback: () => void): NodeJS.Timeout {
  // Node warns of a negative time.
  const milliseconds = Math.max(0, deadline - performance.now());
  return setTimeout(callback, Math.min(milliseconds, longestTimer));
}

/**
 * Waits for a promise and returns its value.
 *
 * @throws Error at the deadline, or before it the error of the promise
 */
export async function beforeDeadline<T>(promise: PromiseLike<T>, deadline: Deadline): Promise<T> {
  const late = Promise.withResolvers<never>();
  const milliseconds = Math.round(deadline - performance.now());
  const timer = atDeadline(deadline, () => {
    late.reject(new Error(`no response within ${milliseconds} ms`));
  });
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for a promise as `beforeDeadline` does, for a given number of milliseconds. */
export function withTimeout<T>(promise: PromiseLike<T>, milliseconds: number): Promise<T> {
  return beforeDeadline(promise, deadlineIn(milliseconds));
}

/** The latest time that the store sends: postgres.js makes a Date of a time, and a Date has no infinity. */
const lastTime = Date.UTC(9999, 11, 31);

/** Formats milliseconds since 1970 as a time for Postgres. */
export function timeText(milliseconds: number): string {
  return new Date(Math.min(milliseconds, lastTime)).toISOString();
}
