import * as perfHooks from 'node:perf_hooks';

/** Milliseconds after which the shortest of the earlier statements no longer counts. */
const memory = 10_000;

/** So many times longer than the shortest statement are statements in a database that is busy. */
const busyFactor = 3;

/** Milliseconds that a statement counts at most, so that one slow statement changes little. */
const longest = 50;

/** Milliseconds of the shortest pause that is worth its timer. */
const shortestPause = 1;

/** A statement that has ended. */
interface EndedStatement {
  readonly creates: number;
  /** Milliseconds that the statement took. */
  readonly duration: number;
}

/**
 * Makes statements fuller while the database is busy, because two half-full statements cost more than
 * a full one. A queue that has no full statement waits in two ways:
 *
 * - The queues of several nodes take turns: a queue waits for the statement of another queue.
 * - After a statement, all queues pause until as many creates have arrived as the statement had, because
 *   its clients now send their next creates. Without the pause, the next statement would have only the
 *   creates of the other clients. The process pauses only when it is idle for a third of a statement,
 *   and no longer than that: the database then works for other instances. A single instance is busy.
 *
 * While the database is not busy, the queues do not wait, because that would cost time and save nothing.
 */
export class SendTurn {
  readonly #running = new Set<object>();
  /** The queue that has waited longest is the first. */
  readonly #queues = new Set<() => void>();
  readonly #idleTime: () => number;
  /** The idle time when a statement was sent. */
  readonly #idleBefore = new WeakMap<object, number>();
  /** Milliseconds that a statement takes, as a moving average. */
  #average = 0;
  /** Milliseconds of the shortest statement: in this period, and in the one before. */
  #shortest = Number.POSITIVE_INFINITY;
  #shortestBefore = Number.POSITIVE_INFINITY;
  #periodEndsAt = 0;
  /** Milliseconds for which this process is idle during a statement, as a moving average. */
  #idle = 0;
  #pause: NodeJS.Timeout | undefined;
  /** How many creates the pause still waits for. */
  #missing = 0;

  /** @param idleTime milliseconds for which this process has had nothing to do */
  constructor(idleTime = eventLoopIdleTime) {
    this.#idleTime = idleTime;
  }

  /** Whether a queue with less than a full statement must wait. */
  get isTaken(): boolean {
    return this.#pause !== undefined || (this.#running.size > 0 && this.#isBusy);
  }

  /** Adds a queue. `send` sends what the queue may send now. */
  join(send: () => void): void {
    this.#queues.add(send);
  }

  /** A create has arrived in a queue. */
  arrived(): void {
    if (this.#pause && --this.#missing === 0) this.#endPause();
  }

  /** A queue has sent a statement. */
  sent(send: () => void, statement: object): void {
    this.#running.add(statement);
    this.#idleBefore.set(statement, this.#idleTime());
    this.#queues.delete(send);
    this.#queues.add(send);
  }

  /** A statement is slow, so that the other queues need not wait for it any longer. */
  isSlow(statement: object): void {
    this.#running.delete(statement);
    this.#sendAll();
  }

  /** A statement has ended. */
  ended(statement: object, { creates, duration }: EndedStatement): void {
    this.#running.delete(statement);
    this.#average += (Math.min(duration, longest) - this.#average) / 8;
    const idle = this.#idleTime() - (this.#idleBefore.get(statement) ?? 0);
    this.#idle += (Math.min(idle, longest) - this.#idle) / 8;
    if (performance.now() > this.#periodEndsAt) {
      this.#periodEndsAt = performance.now() + memory;
      this.#shortestBefore = this.#shortest;
      this.#shortest = Number.POSITIVE_INFINITY;
    }
    this.#shortest = Math.min(this.#shortest, duration);
    const isIdle = this.#idle >= Math.max(shortestPause, this.#average / 3);
    const isWorthIt = this.#isBusy && isIdle;
    if (isWorthIt && this.#running.size === 0) this.#beginPause(creates);
    this.#sendAll();
  }

  get #isBusy(): boolean {
    return this.#average > busyFactor * Math.min(this.#shortest, this.#shortestBefore);
  }

  #beginPause(creates: number): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#endPause(), this.#idle);
    this.#missing = creates;
  }

  #endPause(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#sendAll();
  }

  #sendAll(): void {
    for (const send of [...this.#queues]) send();
  }
}

function eventLoopIdleTime(): number {
  return perfHooks.performance.eventLoopUtilization().idle;
}
