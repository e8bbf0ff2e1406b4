import { atDeadline, type CallOptions, type Deadline, deadlineOf } from '../database/deadline.ts';
import { carry, diagnostics } from '../database/diagnostics.ts';
import { callerDisconnected } from '../database/errors.ts';
import type { PlantStoreError } from '../plant-store-error.ts';
import { Call } from './call.ts';

export interface CoalescerOptions<Input, Output> {
  /** The maximum number of calls in one statement. */
  readonly maxBatch?: number;
  /** The maximum number of calls in one statement when commits are slow. Default: `maxBatch`. */
  readonly maxSlowBatch?: number;
  /** Sends one statement for all `calls`, and settles each call. The promise is never rejected. */
  readonly send: (calls: Call<Input, Output>[]) => Promise<void>;
  /**
   * Makes the error for a call that missed its deadline. `isSent` says whether a running statement contains
   * the call.
   */
  readonly late: (call: Call<Input, Output>, isSent: boolean) => PlantStoreError;
  /** Makes the error for a call when too many calls wait. */
  readonly overloaded: (waiting: number) => PlantStoreError;
  /** The maximum number of statements that run at the same time. */
  readonly maxInFlight: number;
  /**
   * Returns the length of a call's input. Default: 0. New calls are rejected while the lengths of the waiting
   * calls add up to at least `maxQueueLength`.
   */
  readonly lengthOf?: (input: Input) => number;
  /** A statement takes no more calls after its calls have reached this total length. Default: 1 Mi. */
  readonly maxLength?: number;
  /**
   * A call is rejected when it has waited for a statement for this fraction of the call's time limit.
   * Default: 1.
   */
  readonly maxWait?: number;
  /** Whether the running statements may be committing. Default: never. */
  readonly mayCommit?: () => Promise<boolean>;
}

/** The maximum number of waiting calls. When the database is slow, the limit is lower. */
const maxQueue = 10_000;

const maxQueueLength = 64 * 2 ** 20;

/**
 * A statement is slow when it takes longer than this many milliseconds. When the running statement is slow,
 * the waiting calls are sent even if they do not fill a statement.
 */
const slowAfter = 50;

/** The minimum number of milliseconds between two checks. Each check reads the deadlines of all calls. */
const timerInterval = 5;

const defaults = {
  maxBatch: 128,
  lengthOf: () => 0,
  maxLength: 2 ** 20,
  maxWait: 1,
  mayCommit: async () => false,
};

/** A statement that runs. */
interface Statement<Input, Output> {
  readonly calls: Call<Input, Output>[];
  /** Whether the statement has taken longer than `slowAfter` and is not committing. */
  isSlow: boolean;
  mayCommit: boolean;
  timer?: NodeJS.Timeout;
}

/**
 * Combines waiting calls into one statement. A single call is sent immediately. Further calls wait until the
 * statement of the first call ends, and are then sent together. While the first statement runs, a second
 * statement starts only if the second statement is full or the first statement is slow. Two half-full
 * statements would cost more than a full statement. While the commit of the first statement waits for the
 * disk, a second statement would wait for the same disk.
 */
export class Coalescer<Input, Output> {
  readonly #options: Required<CoalescerOptions<Input, Output>>;
  // The calls are in arrays, because a Set would keep calls in memory until a full garbage collection.
  #waiting: Call<Input, Output>[] = [];
  /** The total length of the waiting calls. */
  #length = 0;
  #inFlight: Statement<Input, Output>[] = [];
  /**
   * The milliseconds that the last four statements with slow commits took. A fast commit empties the list of
   * durations.
   */
  #slowCommits: number[] = [];
  /** The average duration of a statement in milliseconds, or 0 when the duration is unknown. */
  #latency = 0;
  /** The timer for the earliest deadline. All calls share this timer, because timers are expensive. */
  #timer: NodeJS.Timeout | undefined;
  #nextDeadline = Number.POSITIVE_INFINITY;

  constructor(options: CoalescerOptions<Input, Output>) {
    const { maxBatch = defaults.maxBatch } = options;
    this.#options = { ...defaults, maxSlowBatch: maxBatch, ...options };
  }

  /**
   * Adds a call, and resolves with the call's output.
   *
   * @throws the error of `send`, `late` or `overloaded`
   */
  run(input: Input, options: CallOptions = {}): Promise<Output> {
    if (this.#isFull) this.#dropGone();
    const call = new Call<Input, Output>(input, options);
    this.#add(call);
    this.#send();
    return call.outcome;
  }

  /**
   * Adds calls that may be sent together. Resolves with the outcome of each call: the output, or the error
   * that `run` would throw.
   */
  runAll(
    inputs: readonly Input[],
    options: CallOptions = {},
  ): Promise<PromiseSettledResult<Output>[]> {
    if (this.#isFull) this.#dropGone();
    const deadline = deadlineOf(options);
    const calls = inputs.map((input) => new Call<Input, Output>(input, { ...options, deadline }));
    for (const call of calls) this.#add(call);
    this.#send();
    return Promise.allSettled(calls.map(({ outcome }) => outcome));
  }

  #add(call: Call<Input, Output>): void {
    if (this.#isFull || this.#isTooSlowFor(call.deadline)) {
      call.reject(this.#options.overloaded(this.#waiting.length));
      return;
    }
    call.length = this.#options.lengthOf(call.input);
    if (diagnostics.wait.hasSubscribers) diagnostics.wait.publish(call);
    this.#waiting.push(call);
    this.#length += call.length;
    call.sendBy = call.madeAt + this.#options.maxWait * (call.deadline - call.madeAt);
    if (call.sendBy < this.#nextDeadline) this.#setTimer(call.sendBy);
  }

  #setTimer(deadline: Deadline): void {
    clearTimeout(this.#timer);
    this.#nextDeadline = deadline;
    // The timer need not keep Node running, because open connections keep Node running.
    this.#timer = atDeadline(deadline, this.#endLate).unref();
  }

  /** Rejects each call whose time is over, and sets the timer to the next deadline. */
  readonly #endLate = (): void => {
    const now = performance.now();
    const isLate = ({ sendBy }: Call<Input, Output>) => sendBy <= now;
    if (this.#waiting.some(isLate)) this.rejectWaiting(this.#options.late, isLate);
    let next = Number.POSITIVE_INFINITY;
    for (const { calls } of this.#inFlight) {
      for (const call of calls) {
        if (call.deadline <= now) call.reject(this.#options.late(call, true));
        else next = Math.min(next, call.deadline);
      }
    }
    for (const { sendBy } of this.#waiting) next = Math.min(next, sendBy);
    this.#nextDeadline = Number.POSITIVE_INFINITY;
    if (next < Number.POSITIVE_INFINITY) this.#setTimer(Math.max(next, now + timerInterval));
  };

  /** The number of calls that wait for a statement, and the number of calls in running statements. */
  get pending(): { waiting: number; inFlight: number } {
    return { waiting: this.#waiting.length, inFlight: this.#callsInFlight.length };
  }

  /** Resolves when all current calls are settled. */
  async drained(): Promise<void> {
    const unsettled = [...this.#waiting, ...this.#callsInFlight];
    await Promise.allSettled(unsettled.map(({ outcome }) => outcome));
  }

  /** Rejects each waiting call for which `isEnded` returns true. By default, rejects all waiting calls. */
  rejectWaiting(
    error: (call: Call<Input, Output>, isSent: boolean) => Error,
    isEnded: (call: Call<Input, Output>) => boolean | undefined = () => true,
  ): void {
    this.#waiting = this.#waiting.filter((call) => {
      if (!isEnded(call)) return true;
      this.#length -= call.length;
      call.reject(error(call, false));
      return false;
    });
  }

  get #callsInFlight(): Call<Input, Output>[] {
    return this.#inFlight.flatMap(({ calls }) => calls);
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && this.#inFlight.length === 0;
  }

  get #isFull(): boolean {
    return this.#waiting.length >= maxQueue || this.#length >= maxQueueLength;
  }

  /** The number of statements that the waiting calls would fill completely. */
  get #fullStatements(): number {
    const byLength = this.#length / this.#options.maxLength;
    return Math.floor(Math.max(this.#waiting.length / this.#maxBatch, byLength));
  }

  get #maxBatch(): number {
    const { maxBatch, maxSlowBatch } = this.#options;
    const isSlow =
      this.#slowCommits.length > 0 || this.#inFlight.some(({ mayCommit }) => mayCommit);
    return isSlow || this.#latency > slowAfter ? maxSlowBatch : maxBatch;
  }

  readonly #send = (): void => {
    const { send, maxInFlight } = this.#options;
    while (this.#waiting.length > 0 && this.#inFlight.length < maxInFlight) {
      if (this.#fullStatements === 0) {
        if (this.#inFlight.some(({ isSlow }) => !isSlow)) return;
      }
      const calls = this.#take();
      if (calls.length === 0) return;
      const statement: Statement<Input, Output> = { calls, isSlow: false, mayCommit: false };
      this.#inFlight.push(statement);
      this.#watch(statement, slowAfter);
      const sentAt = performance.now();
      void carry(calls, send).then(() => {
        clearTimeout(statement.timer);
        this.#inFlight = this.#inFlight.filter((each) => each !== statement);
        const latency = performance.now() - sentAt;
        const slowCommits = statement.mayCommit ? [latency, ...this.#slowCommits.slice(0, 3)] : [];
        this.#slowCommits = this.#isIdle ? [] : slowCommits;
        this.#updateLatency(latency);
        this.#send();
      });
    }
  };

  /** Checks repeatedly whether a long statement is slow or is committing. */
  #watch(statement: Statement<Input, Output>, pause: number): void {
    statement.timer = setTimeout(async () => {
      statement.mayCommit = await this.#options.mayCommit();
      if (!this.#inFlight.includes(statement)) return;
      statement.isSlow = !statement.mayCommit;
      if (statement.isSlow) this.#send();
      this.#watch(statement, 2 * pause);
    }, pause);
  }

  /**
   * Removes and returns the oldest waiting calls that fit into one statement. After two slow commits, rejects
   * each call that has less time left than the shortest of the last slow commits took. A rejected call writes
   * nothing. The newest call is not rejected, and measures whether commits are fast again.
   */
  #take(): Call<Input, Output>[] {
    const { late, overloaded, maxLength } = this.#options;
    const now = performance.now();
    const shortest = this.#slowCommits.length < 2 ? 0 : Math.min(...this.#slowCommits);
    const maxBatch = this.#maxBatch;
    const calls: Call<Input, Output>[] = [];
    let taken = 0;
    let length = 0;
    for (const call of this.#waiting) {
      if (calls.length === maxBatch || length >= maxLength) break;
      taken++;
      this.#length -= call.length;
      const left = call.deadline - now;
      if (call.caller?.isGone) {
        call.reject(callerDisconnected());
        continue;
      }
      if (call.sendBy < now) {
        call.reject(late(call, false));
        continue;
      }
      if (left < shortest && taken < this.#waiting.length) {
        call.reject(overloaded(this.#waiting.length));
        continue;
      }
      call.sentAt = now;
      calls.push(call);
      length += call.length;
    }
    this.#waiting.splice(0, taken);
    return calls;
  }

  #dropGone(): void {
    this.rejectWaiting(callerDisconnected, ({ caller }) => caller?.isGone);
  }

  /**
   * Whether a new call would probably miss its deadline. Returns false while the waiting calls do not fill a
   * statement (`maxBatch`, `maxLength`). These calls keep a slow database busy, and their statements show
   * when the database is fast again.
   */
  #isTooSlowFor(deadline: Deadline): boolean {
    const { maxBatch, maxInFlight, maxLength } = this.#options;
    if (this.#waiting.length < maxBatch && this.#length < maxLength) return false;
    const ahead = this.#fullStatements;
    // A new call waits for the end of a running statement, then for the statements of earlier calls, and then
    // for its own statement. At most `maxInFlight` statements run at the same time.
    const statements = 2 + Math.floor(ahead / maxInFlight);
    const time = deadline - performance.now();
    return statements * this.#latency > (ahead === 0 ? time : 0.8 * time);
  }

  /**
   * Updates the moving average. The newest statement counts for one eighth, so that a single timeout changes
   * the average only a little. An idle coalescer forgets the average, because the database may be faster when
   * the next call arrives.
   */
  #updateLatency(latency: number): void {
    this.#latency = this.#isIdle ? 0 : this.#latency + (latency - this.#latency) / 8;
  }
}
