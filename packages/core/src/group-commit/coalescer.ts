import { Call } from '../database/call.ts';
import { atDeadline, type CallOptions, type Deadline, deadlineOf } from '../database/deadline.ts';
import type { PlantStoreError } from '../plant-store-error.ts';

/** The limits of a coalescer. */
export interface CoalescerLimits {
  /** The most calls in one statement. */
  readonly maxBatch?: number;
  /** The most calls in one statement while commits are slow. Default: `maxBatch`. */
  readonly maxSlowBatch?: number;
  /** The most calls that may wait. When the database is slow, fewer may. */
  readonly maxQueue?: number;
  /**
   * A statement that takes more milliseconds is slow. Then another one may start beside it, even a partly
   * filled one.
   */
  readonly slowAfter?: number;
}

export interface CoalescerOptions<Input, Output> extends CoalescerLimits {
  /** Runs a statement for these calls, and settles each of them. The promise is never rejected. */
  readonly send: (calls: Call<Input, Output>[]) => Promise<void>;
  /** The error for a call at its deadline. */
  readonly late: () => PlantStoreError;
  /** The error for a call when too many wait. */
  readonly overloaded: (waiting: number) => PlantStoreError;
  /** The most statements that run at the same time. */
  readonly maxInFlight: number;
  /**
   * Counts the characters of a call. A statement has at most about 1 Mi characters, and the queue about 64
   * Mi.
   */
  readonly lengthOf?: (input: Input) => number;
  /** Whether the running statements may be in a commit. Default: never. */
  readonly mayCommit?: () => Promise<boolean>;
  /** The turn that this coalescer shares with others. */
  readonly turn?: SharedTurn;
}

/** Decides when a coalescer whose calls do not fill a statement waits for other coalescers. */
export interface SharedTurn {
  /** Returns whether a coalescer must wait. If so, calls `send` when the coalescer may try again. */
  mustWait(send: () => void): boolean;
  /** Is called when a statement is sent. Returns a function to call when that statement ends or is slow. */
  take(): () => void;
  /** Is called when a statement has ended, with its duration. */
  ended(milliseconds: number): void;
}

const maxStatementLength = 2 ** 20;
const maxQueueLength = 64 * 2 ** 20;

/** The turn of a coalescer that waits for no other. */
export const ownTurn: SharedTurn = { mustWait: () => false, take: () => () => {}, ended() {} };

const defaults = {
  maxBatch: 128,
  maxQueue: 10_000,
  slowAfter: 50,
  lengthOf: () => 0,
  mayCommit: async () => false,
  turn: ownTurn,
};

/** A statement that runs. */
interface Statement<Input, Output> {
  readonly calls: Call<Input, Output>[];
  /** Whether it has taken longer than `slowAfter`, and is not in its commit. */
  isSlow: boolean;
  mayCommit: boolean;
  timer?: NodeJS.Timeout;
}

/**
 * Combines waiting calls into one statement. A single call is sent at once. Calls that arrive while its
 * statement runs wait, and are then sent together. A second statement starts beside the first only when
 * the second one is full or the first one is slow, because two half-full statements cost more than a full
 * one. While the first one waits for the disk in its commit, a second one would only wait for the same disk.
 */
export class Coalescer<Input, Output> {
  readonly #options: Required<CoalescerOptions<Input, Output>>;
  // Arrays, because a Set leaves internal tables behind, which keep calls in memory until a full garbage
  // collection.
  #waiting: Call<Input, Output>[] = [];
  /** Characters of the calls that wait. */
  #length = 0;
  #inFlight: Statement<Input, Output>[] = [];
  /**
   * The durations of the last four statements with a slow commit, in milliseconds. Empty after a fast commit.
   */
  #slowCommits: number[] = [];
  /** The moving average of a statement's milliseconds. It is 0 while unknown. */
  #latency = 0;

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
    const call = new Call<Input, Output>(input, options, (late) => this.#endLate(late));
    this.#add(call);
    this.#send();
    return call.outcome;
  }

  /**
   * Adds calls that may be sent together. Resolves with an outcome for each call, as `run` would settle it.
   */
  async runAll(
    inputs: readonly Input[],
    options: CallOptions = {},
  ): Promise<PromiseSettledResult<Output>[]> {
    if (this.#isFull) this.#dropGone();
    const deadline = deadlineOf(options);
    const calls = inputs.map((input) => new Call<Input, Output>(input, { ...options, deadline }));
    // One timer for all calls: a timer for each would double the CPU time of a call.
    const timer = atDeadline(deadline, () => calls.forEach((call) => void this.#endLate(call)));
    for (const call of calls) this.#add(call);
    this.#send();
    const outcomes = await Promise.allSettled(calls.map(({ outcome }) => outcome));
    clearTimeout(timer);
    return outcomes;
  }

  #add(call: Call<Input, Output>): void {
    if (this.#isFull || this.#isTooSlowFor(call.deadline)) {
      call.reject(this.#options.overloaded(this.#waiting.length));
      return;
    }
    call.length = this.#options.lengthOf(call.input);
    this.#waiting.push(call);
    this.#length += call.length;
  }

  #endLate(call: Call<Input, Output>): void {
    const at = this.#waiting.indexOf(call); // It is nearly always the first.
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      this.#length -= call.length;
    }
    call.reject(this.#options.late());
  }

  /** How many calls wait for a statement, and how many are part of a running one. */
  get pending(): { waiting: number; inFlight: number } {
    return { waiting: this.#waiting.length, inFlight: this.#callsInFlight.length };
  }

  /** Resolves when all calls so far are settled. */
  async drained(): Promise<void> {
    const unsettled = [...this.#waiting, ...this.#callsInFlight];
    await Promise.allSettled(unsettled.map(({ outcome }) => outcome));
  }

  /** Rejects the calls that wait. */
  rejectWaiting(error: Error): void {
    for (const call of this.#waiting) call.reject(error);
    this.#waiting = [];
    this.#length = 0;
  }

  get #callsInFlight(): Call<Input, Output>[] {
    return this.#inFlight.flatMap(({ calls }) => calls);
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && this.#inFlight.length === 0;
  }

  get #isFull(): boolean {
    return this.#waiting.length >= this.#options.maxQueue || this.#length >= maxQueueLength;
  }

  /** How many statements the waiting calls would fill completely. */
  get #fullStatements(): number {
    const byLength = this.#length / maxStatementLength;
    return Math.floor(Math.max(this.#waiting.length / this.#maxBatch, byLength));
  }

  get #maxBatch(): number {
    const { maxBatch, maxSlowBatch, slowAfter } = this.#options;
    const isSlow =
      this.#slowCommits.length > 0 || this.#inFlight.some(({ mayCommit }) => mayCommit);
    return isSlow || this.#latency > slowAfter ? maxSlowBatch : maxBatch;
  }

  readonly #send = (): void => {
    const { send, maxInFlight, slowAfter, turn } = this.#options;
    while (this.#waiting.length > 0 && this.#inFlight.length < maxInFlight) {
      if (this.#fullStatements === 0) {
        if (this.#inFlight.some(({ isSlow }) => !isSlow) || turn.mustWait(this.#send)) return;
      }
      const calls = this.#take();
      if (calls.length === 0) return;
      const statement: Statement<Input, Output> = { calls, isSlow: false, mayCommit: false };
      this.#inFlight.push(statement);
      const endTurn = turn.take();
      this.#watch(statement, slowAfter, endTurn);
      const sentAt = performance.now();
      void send(calls).then(() => {
        clearTimeout(statement.timer);
        this.#inFlight = this.#inFlight.filter((each) => each !== statement);
        const latency = performance.now() - sentAt;
        const slowCommits = statement.mayCommit ? [latency, ...this.#slowCommits.slice(0, 3)] : [];
        this.#slowCommits = this.#isIdle ? [] : slowCommits;
        this.#updateLatency(latency);
        turn.ended(latency);
        endTurn();
        this.#send();
      });
    }
  };

  /** Checks repeatedly whether a statement that takes long is slow or in its commit. */
  #watch(statement: Statement<Input, Output>, pause: number, endTurn: () => void): void {
    statement.timer = setTimeout(async () => {
      endTurn();
      statement.mayCommit = await this.#options.mayCommit();
      if (!this.#inFlight.includes(statement)) return;
      statement.isSlow = !statement.mayCommit;
      if (statement.isSlow) this.#send();
      this.#watch(statement, 2 * pause, endTurn);
    }, pause);
  }

  /**
   * Removes and returns the first calls, as many as fit into one statement. After two slow commits, rejects
   * calls whose deadline would pass even if the next commit were as short as the shortest slow one. Nothing
   * is written for a rejected call. The last call is always sent, to show when commits are fast again.
   */
  #take(): Call<Input, Output>[] {
    const { late, overloaded } = this.#options;
    const now = performance.now();
    const shortest = this.#slowCommits.length < 2 ? 0 : Math.min(...this.#slowCommits);
    const maxBatch = this.#maxBatch;
    const calls: Call<Input, Output>[] = [];
    let taken = 0;
    let length = 0;
    for (const call of this.#waiting) {
      if (calls.length === maxBatch || length >= maxStatementLength) break;
      taken++;
      this.#length -= call.length;
      const left = call.deadline - now;
      if (call.caller?.isGone || left < 0) {
        call.reject(late());
        continue;
      }
      if (left < shortest && taken < this.#waiting.length) {
        call.reject(overloaded(this.#waiting.length));
        continue;
      }
      calls.push(call);
      length += call.length;
    }
    this.#waiting.splice(0, taken);
    return calls;
  }

  #dropGone(): void {
    for (const call of this.#waiting.filter(({ caller }) => caller?.isGone)) this.#endLate(call);
  }

  /**
   * Whether a new call would probably miss its deadline. The first calls, up to a usual statement, are never
   * rejected: they keep a slow database busy, and show when it is fast again.
   */
  #isTooSlowFor(deadline: Deadline): boolean {
    const { maxBatch, maxInFlight } = this.#options;
    if (this.#waiting.length < maxBatch && this.#length < maxStatementLength) return false;
    const ahead = this.#fullStatements;
    // First, a running statement ends. Then the statements ahead run, `maxInFlight` at a time. Then the call's
    // own statement runs.
    const statements = 2 + Math.floor(ahead / maxInFlight);
    const time = deadline - performance.now();
    return statements * this.#latency > (ahead === 0 ? time : 0.8 * time);
  }

  /**
   * Updates the moving average. Each statement has a weight of an eighth, so that a single timeout changes
   * little. An idle coalescer resets the latency: the database may be faster when the next call arrives.
   */
  #updateLatency(latency: number): void {
    this.#latency = this.#isIdle ? 0 : this.#latency + (latency - this.#latency) / 8;
  }
}
