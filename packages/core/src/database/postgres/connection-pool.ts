import { setTimeout } from 'node:timers/promises';
import { leavesConnectionUsable } from '../database-error.ts';
import { deadline, inTime } from '../timeout.ts';
import type { Connection, QueryResult } from './connection.ts';

interface ConnectionPoolOptions {
  connect: () => Promise<Connection>;
  /** Connections at once. */
  max: number;
  /** Milliseconds in which a statement is answered, or its connection given up. */
  deadline?: number;
  /** Milliseconds from an attempt to connect to the next, after something has failed. */
  pause?: number;
}

/**
 * A few connections, each for one statement at a time, opened one after the other as statements
 * need them.
 *
 * When one fails all of them are replaced: what has happened to it (the server is gone, has gone
 * silent, was made read-only) has mostly happened to the others, too.
 */
export class ConnectionPool {
  readonly #options: Required<ConnectionPoolOptions>;
  #connections = new Set<Connection>();
  #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  #isOpening = false;
  #isClosed = false;
  #openedAt = 0;
  #openAgainAt = 0;
  #failedAttempts = 0;
  #failure: unknown;

  constructor(options: ConnectionPoolOptions) {
    this.#options = { deadline, pause: 500, ...options };
  }

  /**
   * Runs a statement on a connection that is free. Where there is none at all, it waits for the next
   * attempt to connect and fails with that.
   */
  query(...statement: Parameters<Connection['query']>): Promise<QueryResult> {
    return this.#run((connection) => connection.query(...statement));
  }

  /** The same for a COPY. */
  copy(...copy: Parameters<Connection['copy']>): Promise<void> {
    return this.#run((connection) => connection.copy(...copy));
  }

  /** Closes the connections, now or when their statements are answered. Further statements fail. */
  close(): void {
    this.#isClosed = true;
    this.#replaceAll();
    this.#wake();
  }

  async #run<T>(statement: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await inTime(statement(connection), this.#options.deadline);
    } catch (error) {
      const isCurrent = this.#connections.has(connection);
      if (isCurrent && !leavesConnectionUsable(error)) this.#replaceAll();
      throw error;
    } finally {
      this.#give(connection);
    }
  }

  async #take(): Promise<Connection> {
    const failedBefore = this.#failedAttempts;
    for (;;) {
      if (this.#isClosed) throw new Error('the store is closed');
      const idle = this.#idle.pop();
      if (idle?.isOpen) return idle;
      if (idle) this.#connections.delete(idle);

      const { size } = this.#connections;
      if (size === 0 && this.#failedAttempts > failedBefore) throw this.#failure;
      if (size < this.#options.max) void this.#open();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Opens one more connection, unless that is under way; never rejects. */
  async #open(): Promise<void> {
    if (this.#isOpening) return;
    this.#isOpening = true;
    await setTimeout(Math.max(0, this.#openAgainAt - performance.now()));
    this.#openedAt = performance.now();
    try {
      const connection = await this.#options.connect();
      this.#connections.add(connection);
      this.#give(connection);
    } catch (error) {
      this.#failure = error;
      this.#failedAttempts++;
      this.#pause();
    }
    this.#isOpening = false;
    this.#wake();
  }

  #give(connection: Connection): void {
    const isCurrent = this.#connections.has(connection) && !this.#isClosed;
    if (isCurrent && connection.isOpen) {
      this.#idle.push(connection);
    } else {
      this.#connections.delete(connection);
      void connection.close();
    }
    this.#wake();
  }

  #replaceAll(): void {
    for (const connection of this.#idle) void connection.close();
    this.#idle = [];
    // Those that are not idle are closed when they are given back.
    this.#connections = new Set();
    this.#pause();
  }

  #pause(): void {
    this.#openAgainAt = this.#openedAt + this.#options.pause;
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
