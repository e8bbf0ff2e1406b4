import { setImmediate } from 'node:timers/promises';
import { type CallOptions, type Deadline, deadlineOf } from './deadline.ts';
import {
  type Advice,
  callerDisconnected,
  closing,
  databaseUnavailable,
  late,
  overdue,
  overloaded,
} from './errors.ts';
import { sendUntilSettled, unsettled } from './send-again.ts';

export interface BatcherOptions<Input, Output> {
  /**
   * Writes or reads for calls of a batch, and settles the calls. Resolves when the statements have ended, or
   * rejects with an error. `sendUntilSettled` then handles the unsettled calls.
   */
  readonly send: (calls: readonly Call<Input, Output>[], deadline: Deadline) => Promise<void>;
  /** The maximum number of batches that run at the same time. */
  readonly running: number;
  /** When this number of calls wait, a further batch starts, which takes up to `maxBatch` calls. */
  readonly startAt: number;
  /** When calls of this total size wait, a further batch starts, which takes calls until it has this size. */
  readonly size?: number;
  /** The size of a call, such as the length of its texts. Default: 0. */
  readonly sizeOf?: (input: Input) => number;
  /**
   * The row that a write locks. A batcher sorts the calls of a batch by their rows, so two statements
   * cannot deadlock. The calls for one row keep the order in which they were made. A call waits while a
   * running batch may lock its row.
   */
  readonly rowOf?: (input: Input) => bigint;
  /** The advice in the errors of calls. */
  readonly advice?: Advice;
}

/** The maximum number of waiting calls, and their maximum total size. */
const maxWaiting = 10_000;
const maxSize = 2 ** 26;

/** The maximum number of calls in a batch. */
const maxBatch = 4_096;

/** A further batch may start when each running batch has run for this number of milliseconds. */
const furtherAfter = 50;

/** If a write takes longer than this number of milliseconds, the disk of the database is slow. */
const slowDisk = 500;

/** A queue with the calls of a whole batch is full when its first call has used this part of its time. */
const patience = 0.6;

/** On a slow disk, a write is rejected after this part of its time limit: its commit would be late. */
const slowPatience = 0.9;

/**
 * Combines calls that wait for the database into batches. A batch is usually one statement. A single call is
 * sent immediately. While its batch runs, further calls wait, and then share the next batch. A batch starts when
 * no batch runs, when enough calls wait, or when the running batches take long.
 */
export class Batcher<Input, Output> {
  readonly #options;
  #waiting: Call<Input, Output>[] = [];
  /** The total size of the waiting calls. */
  #size = 0;
  /** The running batches with all their calls, whose rows a statement may still lock. */
  #running: { readonly calls: readonly Call<Input, Output>[]; readonly startedAt: number }[] = [];
  /** Undefined without `rowOf`: reads do not wait for the disk, and replacements are statements of their own. */
  readonly #disk: Disk | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether `#start` will run soon. Calls made together, such as the plants of a request, share a batch. */
  #isScheduled = false;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: BatcherOptions<Input, Output>) {
    this.#options = { sizeOf: () => 0, size: Number.POSITIVE_INFINITY, ...options };
    this.#disk = options.rowOf && new Disk();
  }

  /**
   * Adds a call, and resolves with its output.
   *
   * @param isBulk whether the call is one of many. Such calls leave half of the queue to single calls.
   * @throws PlantStoreError `overloaded` when too many calls wait, and `shuttingDown` after `close`.
   * @throws PlantStoreError `databaseUnavailable` at the deadline of the call.
   * @throws the error with which `send` rejects the call.
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
    return call.promise;
  }

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
    return this.#running.flatMap(({ calls }) => calls);
  }

  readonly #start = (): void => {
    this.#isScheduled = false;
    while (this.#waiting.length > 0 && this.#canStart()) {
      const calls = this.#take();
      if (calls.length === 0) break;
      const batch = { calls, startedAt: performance.now() };
      this.#running.push(batch);
      void sendUntilSettled(calls, { ...this.#options, send: this.#send }).then(async () => {
        await this.#gather();
        this.#running = this.#running.filter((each) => each !== batch);
        this.#start();
      });
    }
    const isBusy = this.#waiting.length > 0 || this.#running.length > 0;
    if (isBusy) this.#timer ??= setTimeout(this.#look, furtherAfter).unref();
    // While the standby is down, a commit does not end. `close` waits only for unsettled calls.
    const open = this.#closed && unsettled([...this.#waiting, ...this.#sent]);
    if (open?.length === 0) this.#closed?.resolve();
  };

  readonly #send: BatcherOptions<Input, Output>['send'] = (calls, deadline) => {
    const send = () => this.#options.send(calls, deadline);
    return this.#disk ? this.#disk.measure(send) : send();
  };

  #canStart(): boolean {
    if (this.#running.length === 0) return true;
    if (this.#running.length >= this.#options.running || this.#disk?.isSlow) return false;
    if (this.#reaches(this.#options.startAt)) return true;
    return this.#running.every(({ startedAt }) => performance.now() - startedAt >= furtherAfter);
  }

  /** Takes the oldest waiting calls that fit into one batch. */
  #take(): Call<Input, Output>[] {
    const { size, rowOf } = this.#options;
    const locked = new Set(rowOf && this.#sent.map(({ input }) => rowOf(input)));
    // Beside a batch that may wait for a slow disk, a single call goes first. If it succeeds, the disk is not slow.
    const isProbe = this.#disk?.mayBeSlow(this.#running) && !this.#reaches(this.#options.startAt);
    const taken: Call<Input, Output>[] = [];
    let total = 0;
    this.#keep((call) => {
      if (taken.length === (isProbe ? 1 : maxBatch) || total >= size) return true;
      if (this.#rejectIfOver(call, this.#disk?.isSlow ? slowPatience : 1)) return false;
      if (rowOf && locked.has(rowOf(call.input))) return true;
      taken.push(call);
      total += call.size;
      return false;
    });
    if (rowOf) taken.sort((a, b) => compareIds(rowOf(a.input), rowOf(b.input)));
    return taken;
  }

  /**
   * Waits while each turn of the event loop brings further calls, so that they share the next batch.
   * Clients often send their next request as soon as they have a response.
   */
  async #gather(): Promise<void> {
    let before = -1;
    while (!this.#reaches(this.#options.startAt) && this.#waiting.length > before) {
      // Node writes the responses in this turn of the event loop, and reads more requests in the next turn.
      await setImmediate();
      before = this.#waiting.length;
      await setImmediate();
    }
  }

  /** Runs regularly while calls wait or run. Rejects overdue calls, and may start a further batch. */
  readonly #look = (): void => {
    this.#timer = undefined;
    for (const call of this.#sent) {
      if (call.hasUsed(1)) call.reject(databaseUnavailable(overdue(), this.#options.advice));
    }
    this.#keep((call) => !this.#rejectIfOver(call));
    this.#start();
  };

  /** Whether this number of calls wait, or the calls have the total size of a batch. */
  #reaches(count: number): boolean {
    return this.#waiting.length >= count || this.#size >= this.#options.size;
  }

  #isOverloaded(isBulk: boolean): boolean {
    const limit = isBulk ? maxWaiting / 2 : maxWaiting;
    if (this.#waiting.length >= limit || this.#size >= maxSize) return true;
    return this.#reaches(maxBatch) && this.#waiting[0]?.hasUsed(patience) === true;
  }

  /** Removes each waiting call for which `isKept` returns false. */
  #keep(isKept: (call: Call<Input, Output>) => boolean): void {
    this.#waiting = this.#waiting.filter(isKept);
    this.#size = this.#waiting.reduce((sum, { size }) => sum + size, 0);
  }

  /** Rejects a call if its caller is gone or this part of its time has passed. Returns `call.isSettled`. */
  #rejectIfOver(call: Call<Input, Output>, part = 1): boolean {
    if (call.caller?.isGone) call.reject(callerDisconnected());
    else if (call.hasUsed(part)) call.reject(databaseUnavailable(late(), this.#options.advice));
    return call.isSettled;
  }
}

/** Judges by the writes of a batcher whether the disk of the database is slow. A long wait for a lock may look the same. */
class Disk {
  /** The duration in ms of the last write that succeeded. 0 after an error, which a lock may have caused. */
  #took = 0;
  #succeededAt = 0;

  async measure(write: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    await write().catch((error) => {
      this.#took = 0;
      throw error;
    });
    this.#succeededAt = performance.now();
    this.#took = this.#succeededAt - startedAt;
  }

  /** Commits wait for the disk one after the other. A second write would wait twice as long for a slow disk. */
  get isSlow(): boolean {
    return this.#took > slowDisk;
  }

  /** Whether no write has succeeded since a running batch started. The disk may be slow, or a row may be locked. */
  mayBeSlow(running: readonly { readonly startedAt: number }[]): boolean {
    return running.some(({ startedAt }) => startedAt > this.#succeededAt);
  }
}

/** Compares two ids. A subtraction would create a new `bigint`. */
const compareIds = (one: bigint, other: bigint) => Number(one > other) - Number(one < other);

/** A call that waits for the database. A call is settled once; later outcomes change nothing. */
export class Call<Input, Output> {
  readonly input: Input;
  readonly deadline: Deadline;
  readonly caller: CallOptions['caller'];
  readonly size: number;
  readonly madeAt = performance.now();
  isSettled = false;
  readonly #settled = Promise.withResolvers<Output>();
  readonly promise = this.#settled.promise;

  constructor(input: Input, options: CallOptions | undefined, size: number) {
    this.input = input;
    this.deadline = deadlineOf(options);
    this.caller = options?.caller;
    this.size = size;
  }

  /** Whether this part of the time limit has passed. */
  hasUsed(part: number): boolean {
    return performance.now() >= this.madeAt + part * (this.deadline - this.madeAt);
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
