import { PlantStoreError } from '../plant-store-error.ts';
import {
  addDatabaseTime,
  type Caller,
  type CallOptions,
  type Deadline,
  deadlineOf,
} from './deadline.ts';
import { callerDisconnected, databaseUnavailable, NotSentError } from './errors.ts';

export interface BatcherOptions<Input, Output> {
  /** What waits, in the plural. Error messages contain this text. */
  readonly what: string;
  /**
   * Runs one statement for all calls, and settles each call. The promise is never rejected, and is resolved
   * when the statement has ended.
   */
  readonly send: (calls: Call<Input, Output>[]) => Promise<void>;
  /** Makes the error for a call whose statement is still running at the call's deadline. */
  readonly late: () => PlantStoreError;
  /** The maximum number of statements that run at the same time. */
  readonly running: number;
  /** The number of calls that fill a statement. */
  readonly batch: number;
  /** The size of a call, in bytes or rows. Default: 0. */
  readonly sizeOf?: (input: Input) => number;
  /** The total size of calls that fills a statement. */
  readonly size?: number;
  /** The maximum total size of the waiting calls. */
  readonly maxSize?: number;
  /** The row that a call locks. Calls wait while an overdue statement may lock their row. */
  readonly rowOf?: (input: Input) => bigint;
}

/** The maximum number of waiting calls. */
const maxWaiting = 10_000;

/** A statement takes up to this many times the calls that fill it, if they are waiting already. */
const most = 32;

/** A statement is slow after this number of milliseconds. A second statement may then start. */
const slowAfter = 50;

/** The disk of the database is slow when a write takes this number of milliseconds. */
const slowDisk = 500;

/** New calls are rejected when the oldest waiting call has waited for this part of its time limit. */
const patience = 0.6;

/**
 * Combines calls that wait for the database into one statement. A single call is sent immediately. While its
 * statement runs, further calls wait, and then share the next statement. A statement starts when no statement
 * runs, when the waiting calls fill a statement, or when the running statements are slow.
 */
export class Batcher<Input, Output> {
  readonly #options: BatcherOptions<Input, Output>;
  #waiting: Call<Input, Output>[] = [];
  /** The total size of the waiting calls. */
  #size = 0;
  readonly #running = new Set<Statement<Input, Output>>();
  /** The time at which the last statement ended. */
  #endedAt = Number.NEGATIVE_INFINITY;
  /** How many milliseconds the last statement took. */
  #took = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Calls that are made together, such as the plants of one request, share a statement. */
  #isScheduled = false;

  constructor(options: BatcherOptions<Input, Output>) {
    this.#options = options;
  }

  /**
   * Adds a call, and resolves with its output.
   *
   * @throws PlantStoreError `overloaded` when too many calls wait, or `databaseUnavailable` when no statement
   *   started in time. Otherwise, throws the error of `late`, or the error with which `send` rejects the call.
   */
  run(input: Input, options?: CallOptions): Promise<Output> {
    const call = new Call<Input, Output>(input, options, this.#options.sizeOf?.(input) ?? 0);
    if (this.#isOverloaded) {
      call.reject(this.#overloaded());
      return call.outcome;
    }
    this.#waiting.push(call);
    this.#size += call.size;
    if (!this.#isScheduled) queueMicrotask(this.#start);
    this.#isScheduled = true;
    return call.outcome;
  }

  /** The number of calls that wait for a statement, and the number of calls in running statements. */
  get pending(): { waiting: number; inFlight: number } {
    return { waiting: this.#waiting.length, inFlight: this.#callsInFlight.length };
  }

  /** Resolves when all current calls are settled. */
  async drained(): Promise<void> {
    const calls = [...this.#waiting, ...this.#callsInFlight];
    await Promise.allSettled(calls.map(({ outcome }) => outcome));
  }

  get #callsInFlight(): Call<Input, Output>[] {
    return [...this.#running].flatMap(({ calls }) => calls);
  }

  readonly #start = (): void => {
    this.#isScheduled = false;
    while (this.#waiting.length > 0 && this.#canStart()) {
      const calls = this.#take();
      if (calls.length === 0) break;
      const statement = { calls, startedAt: performance.now() };
      this.#running.add(statement);
      void this.#options.send(calls).then(() => {
        this.#running.delete(statement);
        this.#endedAt = performance.now();
        this.#took = this.#endedAt - statement.startedAt;
        this.#start();
      });
    }
    const isIdle = this.#waiting.length === 0 && this.#running.size === 0;
    if (!isIdle) this.#timer ??= setTimeout(this.#look, slowAfter).unref();
  };

  /** While calls wait or run, looks for calls whose time is over, and for slow statements. */
  readonly #look = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    for (const call of this.#callsInFlight) {
      if (call.deadline <= now) call.reject(this.#options.late());
    }
    this.#keep((call) => !this.#hasLeft(call, now));
    this.#start();
  };

  #canStart(): boolean {
    if (this.#running.size === 0) return true;
    if (this.#running.size >= this.#options.running) return false;
    // Commits wait for the disk one after the other. While the disk is slow, a second write would wait for the
    // disk twice as long, so it starts only when something else must delay the first write.
    const usual = this.#options.rowOf ? this.#took : 0;
    const slow = performance.now() - Math.max(slowAfter, 2 * usual);
    if ([...this.#running].every(({ startedAt }) => startedAt <= slow)) return true;
    return this.#isFull && usual < slowDisk;
  }

  /** Whether the waiting calls fill a statement. */
  get #isFull(): boolean {
    const { batch, size = Number.POSITIVE_INFINITY } = this.#options;
    return this.#waiting.length >= batch || this.#size >= size;
  }

  get #isOverloaded(): boolean {
    const { maxSize = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#waiting.length >= maxWaiting || this.#size >= maxSize) return true;
    const [oldest] = this.#waiting;
    if (!oldest || !this.#isFull) return false;
    return performance.now() - oldest.madeAt > patience * (oldest.deadline - oldest.madeAt);
  }

  /** Takes the oldest waiting calls that fit into one statement. */
  #take(): Call<Input, Output>[] {
    const { batch, size = Number.POSITIVE_INFINITY, rowOf } = this.#options;
    const now = performance.now();
    const locked = rowOf && new Set(this.#overdueCalls(now).map(({ input }) => rowOf(input)));
    const taken: Call<Input, Output>[] = [];
    let total = 0;
    this.#keep((call) => {
      if (taken.length === most * batch || total >= size) return true;
      if (this.#hasLeft(call, now)) return false;
      if (locked && locked.size > 0 && locked.has(rowOf(call.input))) return true;
      call.sentAt = now;
      taken.push(call);
      total += call.size;
      return false;
    });
    return taken;
  }

  /** Returns the calls of each statement with a call whose time is over. */
  #overdueCalls(now: number): Call<Input, Output>[] {
    const overdue = [...this.#running].filter(({ calls }) => {
      return calls.some(({ deadline }) => deadline <= now);
    });
    return overdue.flatMap(({ calls }) => calls);
  }

  /** Removes each waiting call for which `isKept` returns false. */
  #keep(isKept: (call: Call<Input, Output>) => boolean): void {
    this.#waiting = this.#waiting.filter(isKept);
    this.#size = this.#waiting.reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether a waiting call has ended, because its time is over or its caller has disconnected. */
  #hasLeft(call: Call<Input, Output>, now: number): boolean {
    if (call.caller?.isGone) {
      call.reject(callerDisconnected());
    } else if (call.deadline <= now) {
      // If a statement has ended during the wait, the database responds, but has too much to do.
      const isWorking = this.#endedAt > call.madeAt;
      call.reject(isWorking ? this.#overloaded() : databaseUnavailable(new NotSentError(noTurn)));
    }
    return call.isSettled;
  }

  #overloaded(): PlantStoreError {
    const waiting = `${this.#waiting.length} ${this.#options.what} are waiting already`;
    const message = `${waiting}: nothing was written, send the request again later`;
    return new PlantStoreError('overloaded', message);
  }
}

const noTurn = 'no statement has ended in time';

interface Statement<Input, Output> {
  readonly calls: readonly Call<Input, Output>[];
  readonly startedAt: number;
}

/** A call that waits for the database. A call is settled once; later outcomes change nothing. */
export class Call<Input, Output> {
  readonly input: Input;
  readonly outcome: Promise<Output>;
  readonly deadline: Deadline;
  readonly caller: Caller | undefined;
  /** See `BatcherOptions.sizeOf`. */
  readonly size: number;
  readonly madeAt = performance.now();
  /** The time at which a statement took the call. */
  sentAt: number | undefined;
  isSettled = false;
  readonly #resolve: (output: Output) => void;
  readonly #reject: (error: Error) => void;

  constructor(input: Input, options: CallOptions | undefined, size: number) {
    const { promise, resolve, reject } = Promise.withResolvers<Output>();
    this.input = input;
    this.outcome = promise;
    this.deadline = deadlineOf(options);
    this.caller = options?.caller;
    this.size = size;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  resolve(output: Output): void {
    if (this.#settle()) this.#resolve(output);
  }

  reject(error: Error): void {
    if (this.#settle()) this.#reject(error);
  }

  #settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    if (this.sentAt !== undefined) addDatabaseTime(this.caller, this.sentAt);
    return true;
  }
}
