import type { PlantStoreError } from '../plant-store-error.ts';
import { Call } from './call.ts';
import { atDeadline, type CallOptions, type Deadline, deadlineOf } from './deadline.ts';

/** How many calls a coalescer sends, and how many wait. */
export interface CoalescerLimits {
  /** Calls in one statement, at most. */
  readonly maxBatch?: number;
  /** Calls that may wait, at most; fewer when the database is slow. */
  readonly maxQueue?: number;
  /** Milliseconds after which a statement is slow, so that a partly filled one may follow. */
  readonly slowAfter?: number;
}

export interface CoalescerOptions<Input, Output> extends CoalescerLimits {
  /** Runs a statement for these calls, and settles each of them. The promise is never rejected. */
  readonly send: (calls: Call<Input, Output>[]) => Promise<void>;
  /** The error for a call at its deadline. */
  readonly late: () => PlantStoreError;
  /** The error for a call when too many wait. */
  readonly overloaded: (waiting: number) => PlantStoreError;
  /** Statements that run at the same time, at most. */
  readonly maxInFlight: number;
  /** How many characters a call has. A statement has about 1 MiB of them, the queue 64 MiB. */
  readonly lengthOf?: (input: Input) => number;
  /** The turn that it shares with other coalescers. */
  readonly turn?: SharedTurn;
}

/** Decides when coalescers with less than a full statement wait for each other. */
export interface SharedTurn {
  /** Whether a coalescer must wait. Then `send` is called when it may try again. */
  mustWait(send: () => void): boolean;
  /** A statement is sent. Returns a function that ends its turn, once it has ended or is slow. */
  take(): () => void;
  /** A statement has ended, after so many milliseconds. */
  ended(milliseconds: number): void;
}

const maxStatementLength = 2 ** 20;
const maxQueueLength = 64 * 2 ** 20;

const ownTurn: SharedTurn = { mustWait: () => false, take: () => () => {}, ended() {} };

const defaults = {
  maxBatch: 128,
  maxQueue: 10_000,
  slowAfter: 50,
  lengthOf: () => 0,
  turn: ownTurn,
};

/** A statement that runs. */
interface Statement<Input, Output> {
  readonly calls: Call<Input, Output>[];
  /** Whether it has taken so long that another one may start beside it. */
  isSlow: boolean;
}

/**
 * Makes one statement of callers that wait. A single call is sent at once. Calls that arrive while its
 * statement runs wait, and are then sent together. A second statement starts beside the first only when
 * it is full or the first one is slow: two half-full statements cost more than a full one.
 */
export class Coalescer<Input, Output> {
  readonly #options: Required<CoalescerOptions<Input, Output>>;
  // Lists, because a Set leaves tables behind that keep calls alive until the next full collection.
  #waiting: Call<Input, Output>[] = [];
  /** Characters of the calls that wait. */
  #length = 0;
  #inFlight: Statement<Input, Output>[] = [];
  /** Milliseconds that a statement takes, as a moving average; 0 while it is unknown. */
  #latency = 0;

  constructor(options: CoalescerOptions<Input, Output>) {
    this.#options = { ...defaults, ...options };
  }

  /**
   * Adds a call; resolves with its output.
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

  /** Adds calls that may be sent together; resolves with their outcomes, which are those of `run`. */
  async runAll(
    inputs: readonly Input[],
    options: CallOptions = {},
  ): Promise<PromiseSettledResult<Output>[]> {
    if (this.#isFull) this.#dropGone();
    const deadline = deadlineOf(options);
    const calls = inputs.map((input) => new Call<Input, Output>(input, { ...options, deadline }));
    // A timer for each call would take as much time as the rest of it.
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
    const at = this.#waiting.indexOf(call); // Nearly always the first.
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

  /** Resolves when all calls of now are settled. */
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

  get #isFull(): boolean {
    return this.#waiting.length >= this.#options.maxQueue || this.#length >= maxQueueLength;
  }

  /** How many statements the waiting calls would fill completely. */
  get #fullStatements(): number {
    const byLength = this.#length / maxStatementLength;
    return Math.floor(Math.max(this.#waiting.length / this.#options.maxBatch, byLength));
  }

  readonly #send = (): void => {
    const { send, maxInFlight, slowAfter, turn } = this.#options;
    while (this.#waiting.length > 0 && this.#inFlight.length < maxInFlight) {
      if (this.#fullStatements === 0) {
        if (this.#inFlight.some(({ isSlow }) => !isSlow) || turn.mustWait(this.#send)) return;
      }
      const calls = this.#take();
      if (calls.length === 0) return;
      const statement = { calls, isSlow: false };
      this.#inFlight.push(statement);
      const endTurn = turn.take();
      const slowTimer = setTimeout(() => {
        statement.isSlow = true;
        endTurn();
        this.#send();
      }, slowAfter);
      const sentAt = performance.now();
      void send(calls).then(() => {
        clearTimeout(slowTimer);
        this.#inFlight = this.#inFlight.filter((each) => each !== statement);
        const latency = performance.now() - sentAt;
        this.#updateLatency(latency);
        turn.ended(latency);
        endTurn();
        this.#send();
      });
    }
  };

  /** Removes and returns the first calls, as many as fit into one statement. */
  #take(): Call<Input, Output>[] {
    const { maxBatch, late } = this.#options;
    const calls: Call<Input, Output>[] = [];
    let taken = 0;
    let length = 0;
    for (const call of this.#waiting) {
      if (calls.length === maxBatch || length >= maxStatementLength) break;
      taken++;
      this.#length -= call.length;
      if (call.caller?.isGone) {
        call.reject(late());
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
   * Whether a call that waits now would probably miss its deadline. The next statement may always be
   * filled: it keeps a slow database busy, and it shows when the database is fast again.
   */
  #isTooSlowFor(deadline: Deadline): boolean {
    const ahead = this.#fullStatements;
    if (ahead === 0) return false;
    // One running statement, its own, and the ones ahead: `maxInFlight` of them run at the same time.
    const statements = 2 + Math.floor(ahead / this.#options.maxInFlight);
    return statements * this.#latency > 0.8 * (deadline - performance.now());
  }

  /**
   * Each statement counts an eighth, so that one that timed out changes little. An idle coalescer
   * resets the latency, because the database may be faster when the next call arrives.
   */
  #updateLatency(latency: number): void {
    const isIdle = this.#waiting.length === 0 && this.#inFlight.length === 0;
    this.#latency = isIdle ? 0 : this.#latency + (latency - this.#latency) / 8;
  }
}
