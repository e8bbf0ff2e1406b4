/** Milliseconds after which the shortest of the earlier statements no longer counts. */
const memory = 10_000;

/** So many times longer than the shortest statement are statements in a database that is busy. */
const busyFactor = 3;

/**
 * Lets the queues of several nodes take turns while the database is busy: a queue with less than a full
 * statement waits for the statement of another queue, and gathers more plants meanwhile. Two half-full
 * statements cost more than a full one. While the database is not busy, statements run beside each
 * other, because waiting for the network would cost time and save nothing.
 */
export class SendTurn {
  readonly #running = new Set<object>();
  /** The queue that has waited longest is the first. */
  readonly #queues = new Set<() => void>();
  /** Milliseconds that a statement takes, as a moving average. */
  #average = 0;
  /** Milliseconds of the shortest statement: in this period, and in the one before. */
  #shortest = Number.POSITIVE_INFINITY;
  #shortestBefore = Number.POSITIVE_INFINITY;
  #periodEndsAt = 0;

  /** Whether a queue with less than a full statement must wait. */
  get isTaken(): boolean {
    const shortest = Math.min(this.#shortest, this.#shortestBefore);
    return this.#running.size > 0 && this.#average > busyFactor * shortest;
  }

  /** Adds a queue. `send` sends what the queue may send now. */
  join(send: () => void): void {
    this.#queues.add(send);
  }

  /** A queue has sent a statement. */
  sent(send: () => void, statement: object): void {
    this.#running.add(statement);
    this.#queues.delete(send);
    this.#queues.add(send);
  }

  /** A statement is slow, so that the other queues need not wait for it any longer. */
  isSlow(statement: object): void {
    this.#running.delete(statement);
    this.#sendAll();
  }

  /** A statement has ended, after so many milliseconds. */
  ended(statement: object, duration: number): void {
    this.#running.delete(statement);
    this.#average += (duration - this.#average) / 8;
    if (performance.now() > this.#periodEndsAt) {
      this.#periodEndsAt = performance.now() + memory;
      this.#shortestBefore = this.#shortest;
      this.#shortest = Number.POSITIVE_INFINITY;
    }
    this.#shortest = Math.min(this.#shortest, duration);
    this.#sendAll();
  }

  #sendAll(): void {
    for (const send of [...this.#queues]) send();
  }
}
