import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { databaseCode } from '../../error-causes.ts';
import { queryTimeout, withTimeout } from '../timeout.ts';
import type { Connection, QueryResult } from './connection.ts';

/** Milliseconds for which `close` waits for the statements that run. */
const closeGrace = 300;

interface ConnectionPoolOptions {
  connect: () => Promise<Connection>;
  /** How many connections may be open. */
  max: number;
  /** Milliseconds for a statement. A slower one fails, and its connection is closed. */
  timeout?: number;
  /** Milliseconds between the starts of two attempts to connect, after an error. */
  retryDelay?: number;
}

/**
 * A few connections, each for one statement at a time. The pool opens them one after the other, when
 * statements need them.
 *
 * When one connection fails, the pool replaces all of them: a server that is unreachable, silent or
 * read-only usually affects every connection.
 */
export class ConnectionPool {
  readonly #options: Required<ConnectionPoolOptions>;
  /** Those that new statements may use; `#open` also has those that are still closing. */
  #connections = new Set<Connection>();
  readonly #open = new Set<Connection>();
  #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  #isConnecting = false;
  #isClosed = false;
  #lastAttemptAt = 0;
  #nextAttemptAt = 0;
  #failedAttempts = 0;
  #lastError: unknown;

  constructor(options: ConnectionPoolOptions) {
    this.#options = { timeout: queryTimeout, retryDelay: 500, ...options };
  }

  /**
   * Runs a statement on an idle connection. While no connection is open, the statement waits for the
   * next attempt to connect. When that attempt fails, the statement fails with its error.
   */
  query(...statement: Parameters<Connection['query']>): Promise<QueryResult> {
    return this.#withConnection((connection) => connection.query(...statement));
  }

  /**
   * Runs a statement as `query` does, and once more when its connection is lost, because the server may
   * just have closed it. The statement must be one that can run twice.
   */
  async queryAgain(...statement: Parameters<Connection['query']>): Promise<QueryResult> {
    try {
      return await this.query(...statement);
    } catch (error) {
      if (!isLostConnection(error)) throw error;
    }
    try {
      return await this.query(...statement);
    } catch (cause) {
      // The error is about the second run only; the first one may have been committed.
      throw new Error('the statement was sent twice', { cause });
    }
  }

  /** Runs a COPY in the same way as `query`. */
  copy(...copy: Parameters<Connection['copy']>): Promise<void> {
    return this.#withConnection((connection) => connection.copy(...copy));
  }

  /** Replaces all connections: idle ones now, and each other one after its statement. */
  replaceAll(): void {
    for (const connection of this.#idle) this.#close(connection);
    this.#idle = [];
    // Connections in use are closed when they are released.
    this.#connections = new Set();
    this.#delayNextAttempt();
  }

  /**
   * Closes idle connections now and each other one after its statement. A statement that takes long is
   * cancelled: the server would not end it because its client is gone. Further statements fail. Resolves
   * when all connections are closed.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.replaceAll();
    this.#wakeWaiting();
    await Promise.race([this.#allClosed(), setTimeout(closeGrace, undefined, { ref: false })]);
    for (const connection of this.#open) if (connection.isOpen) this.#close(connection);
    await this.#allClosed();
  }

  async #allClosed(): Promise<void> {
    while (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #withConnection<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire();
    try {
      return await withTimeout(use(connection), this.#options.timeout);
    } catch (error) {
      const isCurrent = this.#connections.has(connection);
      if (isCurrent && !leavesConnectionUsable(error)) this.replaceAll();
      throw error;
    } finally {
      this.#release(connection);
    }
  }

  async #acquire(): Promise<Connection> {
    const failedBefore = this.#failedAttempts;
    for (;;) {
      if (this.#isClosed) throw new Error('the store is closed');
      const idle = this.#idle.pop();
      if (idle?.isOpen) return idle;
      if (idle) this.#close(idle);

      const isEmpty = this.#connections.size === 0;
      if (isEmpty && this.#failedAttempts > failedBefore) throw this.#lastError;
      if (this.#open.size < this.#options.max) void this.#connect();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #release(connection: Connection): void {
    const isCurrent = this.#connections.has(connection) && !this.#isClosed;
    if (isCurrent && connection.isOpen) {
      this.#idle.push(connection);
    } else {
      this.#close(connection);
    }
    this.#wakeWaiting();
  }

  /** A connection counts as open until it is closed, so that a server never has more than `max`. */
  #close(connection: Connection): void {
    this.#connections.delete(connection);
    void connection.close().then(() => {
      this.#open.delete(connection);
      this.#wakeWaiting();
    });
  }

  /** Opens one more connection, unless an attempt is in progress. The promise is never rejected. */
  async #connect(): Promise<void> {
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    await setTimeout(Math.max(0, this.#nextAttemptAt - performance.now()));
    this.#lastAttemptAt = performance.now();
    try {
      const connection = await this.#options.connect();
      this.#connections.add(connection);
      this.#open.add(connection);
      this.#release(connection);
    } catch (error) {
      this.#lastError = error;
      this.#failedAttempts++;
      this.#delayNextAttempt();
    }
    this.#isConnecting = false;
    this.#wakeWaiting();
  }

  #delayNextAttempt(): void {
    this.#nextAttemptAt = this.#lastAttemptAt + this.#options.retryDelay;
  }

  #wakeWaiting(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

/** Whether the server or the network closed the connection of a statement. */
function isLostConnection(error: unknown): boolean {
  return ['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01'].includes(databaseCode(error) ?? '');
}

/**
 * Whether a connection is still usable after an error. Severity ERROR concerns only the statement.
 * With code 25006, however, the server has become read-only, and further statements would fail too.
 */
function leavesConnectionUsable(error: unknown): boolean {
  const concernsStatement = error instanceof postgres.PostgresError && error.severity === 'ERROR';
  return concernsStatement && error.code !== '25006';
}
