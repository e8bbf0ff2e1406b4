import { setTimeout } from 'node:timers/promises';
import type { DatabaseConnection } from '../database.ts';
import { beforeDeadline, type Deadline } from '../deadline.ts';

export interface ConnectionsOptions<Connection> {
  readonly connect: () => Promise<Connection>;
  /** The maximum number of open connections. */
  readonly max: number;
  /** After an error, the minimum time between the starts of two attempts to connect, in milliseconds. */
  readonly retryDelay?: number | undefined;
}

/** The time for which `close` waits for running statements, in milliseconds. */
const closeGrace = 300;

/** The maximum age of a connection, in milliseconds. Later, `timeOf` may be wrong, because clocks drift. */
const maxAge = 10 * 60_000;

/** The connections to one database node. Opens connections one by one, when statements need connections. */
export class Connections<Connection extends DatabaseConnection> {
  readonly #connect: () => Promise<Connection>;
  readonly #retryDelay: number;
  #max: number;
  /**
   * The connections for new statements, and the time at which each connection was opened. Connections that
   * are being closed are only in `#open`.
   */
  #current = new Map<Connection, number>();
  readonly #open = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #changed: (() => void)[] = [];
  #isConnecting = false;
  #isClosed = false;
  #lastAttemptAt = 0;
  #nextAttemptAt = 0;
  #failedAttempts = 0;
  #lastError: unknown;

  constructor({ connect, max, retryDelay = 500 }: ConnectionsOptions<Connection>) {
    this.#connect = connect;
    this.#max = max;
    this.#retryDelay = retryDelay;
  }

  /**
   * Waits for an idle connection, which the caller must give back. When no connection is open, waits for the
   * next attempt to connect. If the attempt fails, throws the error of the attempt.
   *
   * @param extra the number of connections that may be open for this caller in addition to the maximum
   */
  async take(deadline: Deadline, extra = 0): Promise<Connection> {
    const failedBefore = this.#failedAttempts;
    for (;;) {
      if (this.#isClosed) throw new Error('the store is closed');
      const idle = this.#idle.pop();
      if (idle && this.#isFresh(idle)) return idle;
      if (idle) {
        this.#close(idle);
        continue;
      }
      if (this.#current.size === 0 && this.#failedAttempts > failedBefore) throw this.#lastError;
      if (this.#open.size < this.#max + extra) void this.#openOne();
      await beforeDeadline(this.#change(), deadline);
    }
  }

  give(connection: Connection): void {
    this.#addIdle(connection, this.#open.size > this.#max);
  }

  /** Closes a connection as soon as its statement gives the connection back. */
  drop(connection: Connection): void {
    this.#current.delete(connection);
  }

  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) this.#close(connection);
  }

  /** Replaces all connections after an error of one connection. */
  replaceAllAfterErrorOf(connection: Connection): void {
    if (!this.#current.has(connection)) return;
    this.replaceAll();
    this.#nextAttemptAt = this.#lastAttemptAt + this.#retryDelay;
  }

  /**
   * Replaces idle connections now, and busy connections after their statements. Connections that are still
   * being opened are replaced later.
   */
  replaceAll(): void {
    this.closeIdle();
    // A connection that is not in `#current` is closed after its statement.
    this.#current = new Map();
  }

  /** Raises the maximum number of open connections by `by`. */
  grow(by: number): void {
    this.#max += by;
    this.#wake();
  }

  /** See `ConnectionPool`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.replaceAll();
    this.#wake();
    await Promise.race([this.#allClosed(), setTimeout(closeGrace, undefined, { ref: false })]);
    for (const connection of this.#open) if (connection.isOpen) this.#close(connection);
    await this.#allClosed();
  }

  /** The numbers of open connections, of idle connections, and of callers that wait for a connection. */
  get counts(): { open: number; idle: number; waiting: number } {
    return { open: this.#open.size, idle: this.#idle.length, waiting: this.#changed.length };
  }

  get newest(): Connection | undefined {
    return [...this.#current.keys()].at(-1);
  }

  /** Whether the last attempt to connect began less than two `#retryDelay`s ago. */
  get hasRecentAttempt(): boolean {
    return performance.now() - this.#lastAttemptAt < 2 * this.#retryDelay;
  }

  async #allClosed(): Promise<void> {
    while (this.#open.size > 0) await this.#change();
  }

  #addIdle(connection: Connection, isSurplus: boolean): void {
    if (this.#isFresh(connection) && !isSurplus && !this.#isClosed) this.#idle.push(connection);
    else this.#close(connection);
    this.#wake();
  }

  #isFresh(connection: Connection): boolean {
    const openedAt = this.#current.get(connection) ?? Number.NEGATIVE_INFINITY;
    return connection.isOpen && performance.now() - openedAt < maxAge;
  }

  /** A connection counts as open until it has ended, so that a server never has too many connections. */
  #close(connection: Connection): void {
    this.drop(connection);
    void connection.close().then(() => {
      this.#open.delete(connection);
      this.#wake();
    });
  }

  /** Opens one more connection, unless another attempt is in progress. The promise is never rejected. */
  async #openOne(): Promise<void> {
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    await setTimeout(Math.max(0, this.#nextAttemptAt - performance.now()));
    if (this.#isClosed) return;
    this.#lastAttemptAt = performance.now();
    try {
      const current = this.#current;
      const connection = await this.#connect();
      current.set(connection, performance.now());
      this.#open.add(connection);
      this.#addIdle(connection, false);
    } catch (error) {
      this.#lastError = error;
      this.#failedAttempts++;
      this.#nextAttemptAt = this.#lastAttemptAt + this.#retryDelay;
    }
    this.#isConnecting = false;
    this.#wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  #wake(): void {
    for (const resume of this.#changed.splice(0)) resume();
  }
}
