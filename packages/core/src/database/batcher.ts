import { setImmediate } from 'node:timers/promises';
import { type CallOptions, type Deadline, deadlineOf } from './deadline.ts';
import {
  type Advice,
  callerDisconnected,
  closing,
  databaseUnavailable,
  overdue,
  overloaded,
  StatementError,
} from './errors.ts';
import { sendUntilSettled, unsettled } from './send-again.ts';

export interface BatcherOptions<Input, Output> {
  /**
   * Runs one statement for all calls, and settles each call. Resolves when the statement has ended, or rejects
   * with its error. `send-again.ts` tells what happens to the calls that are not settled then.
   */
  readonly send: (calls: readonly Call<Input, Output>[], deadline: Deadline) => Promise<void>;
  /** The maximum number of statements that run at the same time. */
  readonly running: number;
  /** The number of calls that fill a statement. */
  readonly batch: number;
  /** The total size of calls that fills a statement. */
  readonly size?: number;
  /** The size of a call, in bytes or rows. Default: 0. */
  readonly sizeOf?: (input: Input) => number;
  /**
   * The row that a write locks. A statement has its calls in ascending order of their rows, so two statements
   * cannot deadlock. The calls for one row keep the order of `run`, and wait while a running statement may
   * lock the row.
   */
  readonly rowOf?: (input: Input) => bigint;
  /** The advice in the errors of calls. */
  readonly advice?: Advice;
}

/** The maximum number of waiting calls, and their maximum total size. */
const maxWaiting = 10_000;
const maxSize = 2 ** 26;

/** The maximum number of calls in a statement. */
const maxBatch = 4_096;

/** A statement is slow after this number of milliseconds. A second statement may then start. */
const slowAfter = 50;

/** The disk of the database is slow when a write takes this number of milliseconds. */
const slowDisk = 500;

/** New calls are rejected when calls fill a statement, and the oldest has waited for this part of its time limit. */
const patience = 0.6;

/**
 * Combines calls that wait for the database into one statement. A single call is sent immediately. While its
 * statement runs, further calls wait, and then share the next statement. A statement starts when no statement
 * runs, when the waiting calls fill a statement, or when the running statements are slow.
 */
export class Batcher<Input, Output> {
  readonly #options;
  #waiting: Call<Input, Output>[] = [];
  /** The total size of the waiting calls. */
  #size = 0;
  /** The calls of each running statement, and the start of the statement. */
  readonly #running = new Map<readonly Call<Input, Output>[], number>();
  /** How many milliseconds the last statement took. */
  #took = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether `#start` will run soon. Calls made together, such as the plants of a request, share a statement. */
  #isScheduled = false;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: BatcherOptions<Input, Output>) {
    this.#options = { sizeOf: () => 0, size: Number.POSITIVE_INFINITY, ...options };
  }

  /**
   * Adds a call, and resolves with its output.
   *
   * @param isBulk whether the call is one of many. Such calls leave half of the queue to single calls.
   * @throws PlantStoreError `overloaded` when too many calls wait, `shuttingDown` after `close`,
   *   `databaseUnavailable` at the deadline of the call, or the error with which `send` rejects the call.
   */
  run(input: Input, options?: CallOptions, isBulk = false): Promise<Output> {
    const call = new Call<Input, Output>(input, options, this.#options.sizeOf(input));
    if (this.#closed) call.reject(closing());
    else if (this.#isOverloaded(isBulk)) call.reject(overloaded());
    else {
      this.#waiting.push(call);
      this.#size += call.size;
      if (!this.#isScheduled) queueMicrotask(this.#start);
      this.#isScheduled = true;
    }
    return call.outcome;
  }

  /** The number of calls that wait for a statement. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Rejects further calls, and resolves when each earlier call is settled. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    this.#start();
    return this.#closed.promise;
  }

  get #sent(): Call<Input, Output>[] {
    return [...this.#running.keys()].flat();
  }

  readonly #start = (): void => {
    this.#isScheduled = false;
    while (this.#waiting.length > 0 && this.#canStart()) {
      const calls = this.#take();
      if (calls.length === 0) break;
      const startedAt = performance.now();
      this.#running.set(calls, startedAt);
      void sendUntilSettled(calls, this.#options).then(async () => {
        this.#took = performance.now() - startedAt;
        await this.#gather();
        this.#running.delete(calls);
        this.#start();
      });
    }
    const isBusy = this.#waiting.length > 0 || this.#running.size > 0;
    if (isBusy) this.#timer ??= setTimeout(this.#look, slowAfter).unref();
    // While the standby is down, a commit waits for ever. `close` does not wait for a commit without open calls.
    const open = this.#closed && unsettled([...this.#waiting, ...this.#sent]);
    if (open?.length === 0) this.#closed?.resolve();
  };

  /**
   * Waits while each turn of the event loop brings further calls, so that they share the next statement.
   * Clients often send their next request as soon as they have a response.
   */
  async #gather(): Promise<void> {
    let before = -1;
    while (!this.#isFull && this.#waiting.length > before) {
      // The responses are written in this turn, and the next turn reads further requests.
      await setImmediate();
      before = this.#waiting.length;
      await setImmediate();
    }
  }

  /** While calls wait or run, looks for calls whose time is over, and for slow statements. */
  readonly #look = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    for (const call of this.#sent) {
      if (call.deadline <= now) call.reject(databaseUnavailable(overdue(), this.#options.advice));
    }
    this.#keep((call) => !this.#hasLeft(call, now));
    this.#start();
  };

  #canStart(): boolean {
    if (this.#running.size === 0) return true;
    if (this.#running.size >= this.#options.running) return false;
    // Commits wait for the disk one after the other. While the disk is slow, a second write would wait for the
    // disk twice as long. It starts when the first one takes over twice as long as the last write, because the
    // disk is then not the cause. Reads have no `rowOf`.
    const isDiskSlow = this.#options.rowOf !== undefined && this.#took > slowDisk;
    if (this.#isFull && !isDiskSlow) return true;
    const slow = performance.now() - (isDiskSlow ? 2 * this.#took : slowAfter);
    return [...this.#running.values()].every((startedAt) => startedAt <= slow);
  }

  /** Whether the waiting calls fill a statement. */
  get #isFull(): boolean {
    return this.#waiting.length >= this.#options.batch || this.#size >= this.#options.size;
  }

  #isOverloaded(isBulk: boolean): boolean {
    const limit = isBulk ? maxWaiting / 2 : maxWaiting;
    if (this.#waiting.length >= limit || this.#size >= maxSize) return true;
    const [oldest] = this.#waiting;
    if (!oldest || !this.#isFull) return false;
    return performance.now() - oldest.madeAt > patience * (oldest.deadline - oldest.madeAt);
  }

  /** Takes the oldest waiting calls that fit into one statement. */
  #take(): Call<Input, Output>[] {
    const { size, rowOf } = this.#options;
    const now = performance.now();
    const locked = new Set(rowOf && this.#sent.map(({ input }) => rowOf(input)));
    const taken: Call<Input, Output>[] = [];
    let total = 0;
    this.#keep((call) => {
      if (taken.length === maxBatch || total >= size) return true;
      if (this.#hasLeft(call, now)) return false;
      if (rowOf && locked.has(rowOf(call.input))) return true;
      taken.push(call);
      total += call.size;
      return false;
    });
    if (rowOf) taken.sort((a, b) => compare(rowOf(a.input), rowOf(b.input)));
    return taken;
  }

  /** Removes each waiting call for which `isKept` returns false. */
  #keep(isKept: (call: Call<Input, Output>) => boolean): void {
    this.#waiting = this.#waiting.filter(isKept);
    this.#size = this.#waiting.reduce((sum, { size }) => sum + size, 0);
  }

  /** Rejects a waiting call if its caller has disconnected or its time is over. Returns whether it did. */
  #hasLeft(call: Call<Input, Output>, now: number): boolean {
    if (call.caller?.isGone) call.reject(callerDisconnected());
    else if (call.deadline <= now) {
      const cause = new StatementError('notSent', 'no statement has ended in time');
      call.reject(databaseUnavailable(cause, this.#options.advice));
    }
    return call.isSettled;
  }
}

/** Compares two ids. Their difference would be a new `bigint`. */
const compare = (one: bigint, other: bigint) => Number(one > other) - Number(one < other);

/** A call that waits for the database. A call is settled once; later outcomes change nothing. */
export class Call<Input, Output> {
  readonly input: Input;
  readonly deadline: Deadline;
  readonly caller: CallOptions['caller'];
  /** See `BatcherOptions.sizeOf`. */
  readonly size: number;
  readonly madeAt = performance.now();
  isSettled = false;
  readonly #settled = Promise.withResolvers<Output>();
  readonly outcome = this.#settled.promise;

  constructor(input: Input, options: CallOptions | undefined, size: number) {
    this.input = input;
    this.deadline = deadlineOf(options);
    this.caller = options?.caller;
    this.size = size;
  }

  resolve(output: Output): void {
    this.isSettled = true;
    this.#settled.resolve(output);
  }

  reject(error: Error): void {
    this.isSettled = true;
    this.#settled.reject(error);
  }
}
