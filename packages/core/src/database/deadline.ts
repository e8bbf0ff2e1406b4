import { invalidInput } from '../plant-store-error.ts';
import { overdue } from './errors.ts';

/** The time by which a call ends, as milliseconds on the clock `performance.now()`. */
export type Deadline = number;

export interface CallOptions {
  /** The time by which the call ends. Default: in 5 s. A wait for changes has a limit of its own. */
  readonly deadline?: Deadline | undefined;
  readonly caller?: Caller | undefined;
}

/** The client of a call. A disconnected client's waiting statements are dropped. Traces use the server's object. */
export interface Caller {
  readonly isGone: boolean;
}

/** The time limit of a call without a deadline, in milliseconds. */
export const defaultTimeout = 5_000;

/** The longest time limit, in milliseconds. Node fires a timer with a longer delay immediately. */
const maxTimeout = 2 ** 31 - 1;

/**
 * Returns the deadline of a call. A statement uses the earliest deadline of its calls, so a deadline that is
 * not a number would break the other calls, too.
 *
 * @throws PlantStoreError `invalidInput` when the deadline is not a number
 */
export function deadlineOf({ deadline = deadlineIn(defaultTimeout) }: CallOptions = {}): Deadline {
  const isNumber = typeof deadline === 'number' && !Number.isNaN(deadline);
  if (!isNumber) throw invalidInput('deadline must be a number');
  return Math.min(deadline, deadlineIn(maxTimeout));
}

/** Returns the deadline that is this many milliseconds from now. */
export function deadlineIn(milliseconds: number): Deadline {
  return performance.now() + milliseconds;
}

/** Settles as the given promise does, or rejects at the deadline. */
export async function withDeadline<T>(promise: PromiseLike<T>, deadline: Deadline): Promise<T> {
  const late = Promise.withResolvers<never>();
  const delay = Math.max(0, deadline - performance.now());
  const timer = setTimeout(() => late.reject(overdue()), delay);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
