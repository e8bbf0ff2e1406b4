import {
  addDatabaseTime,
  atDeadline,
  type Caller,
  type CallOptions,
  type Deadline,
  deadlineOf,
} from '../database/deadline.ts';

/** A call that waits for the database. */
export class Call<Input, Output> {
  readonly outcome: Promise<Output>;
  readonly input: Input;
  readonly deadline: Deadline;
  readonly caller: Caller | undefined;
  readonly madeAt = performance.now();
  isSettled = false;
  /** The length of the input. The coalescer measures this length. */
  length = 0;
  /** The time at which a coalescer sent the call. */
  sentAt: number | undefined;
  /** The latest time at which a coalescer may send the call. */
  sendBy: Deadline = Number.POSITIVE_INFINITY;
  readonly #resolve: (output: Output) => void;
  readonly #reject: (error: Error) => void;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(
    input: Input,
    options: CallOptions,
    onDeadline?: (call: Call<Input, Output>) => void,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<Output>();
    this.outcome = promise;
    this.input = input;
    this.deadline = deadlineOf(options);
    this.caller = options.caller;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = onDeadline && atDeadline(this.deadline, () => onDeadline(this));
  }

  resolve(output: Output): void {
    if (this.#settle()) this.#resolve(output);
  }

  reject(error: Error): void {
    if (this.#settle()) this.#reject(error);
  }

  #settle(): boolean {
    if (this.isSettled) return false;
    clearTimeout(this.#timer);
    this.isSettled = true;
    if (this.sentAt !== undefined) addDatabaseTime(this.caller, this.sentAt);
    return true;
  }
}
