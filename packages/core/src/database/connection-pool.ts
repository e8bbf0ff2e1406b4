import { setTimeout } from 'node:timers/promises';
import { databaseCode, rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import type { DatabaseConnection, PoolState } from './database.ts';
import {
  isLateWrite,
  isStatementError,
  isUnconfirmedCommit,
  lateWriteError,
  NotSentError,
} from './database-error.ts';
import {
  addDatabaseTime,
  beforeDeadline,
  type Deadline,
  deadlineIn,
  defaultTimeout,
} from './deadline.ts';
import { diagnostics } from './diagnostics.ts';
import { readOnlyCode } from './explain-database-error.ts';
import { LateStatements } from './late-statements.ts';
import type { Rows } from './query.ts';
import { Turns } from './turns.ts';
import type { Run, RunOptions, Share, StatementOptions } from './verbs.ts';

interface ConnectionPoolOptions<Connection> {
  readonly connect: () => Promise<Connection>;
  /** The number of connections for each kind of statement. */
  readonly shares: Partial<Record<Share, number>>;
  /** The time limit of a statement without a deadline, in milliseconds. Default: 5 s. */
  readonly timeout?: number;
  /** The maximum number of waiting statements of one kind. */
  readonly maxWaiting?: number;
  /** The shortest time between the starts of two connection attempts after an error, in milliseconds. */
  readonly retryDelay?: number;
  /** Called with the error of each failed statement. */
  readonly onError?: (error: unknown) => void;
  /** Called when a write is still in its commit a second after the write's deadline. */
  readonly onUnsettled?: () => void;
}

/** The time for which `close` waits for running statements, in milliseconds. */
const closeGrace = 300;

/** Milliseconds in which the server must say whether a late statement is in its commit. */
const askTimeout = 3_000;

/**
 * The fraction of a list's time limit for which the list may wait for its turn. After a longer wait, the
 * database would cancel the list, and the error would not be `overloaded`.
 */
export const listWait = 0.8;

/** The tolerated difference between two clocks, in milliseconds. */
const clockTolerance = 1_000;

/** The age in milliseconds at which the pool replaces a connection, whose clock may then be wrong. */
const maxAge = 10 * 60_000;

/**
 * The connections to one database node. Each connection runs one statement at a time. Each kind of statement
 * has its own connections, so that one kind cannot block another. The pool opens one connection at a time,
 * and only when statements need more connections.
 *
 * When one connection fails, the pool replaces all connections. A server that is unreachable, silent or
 * read-only usually affects every connection.
 */
export class ConnectionPool<Connection extends DatabaseConnection = DatabaseConnection> {
  readonly #options: ConnectionPoolOptions<Connection> & { retryDelay: number; timeout: number };
  readonly #turns: ReadonlyMap<Share, Turns>;
  #max = 0;
  /**
   * The connections for new statements, and the time at which each connection was opened. `#open` also
   * contains the connections that are being closed.
   */
  #connections = new Map<Connection, number>();
  readonly #open = new Set<Connection>();
  #idle: Connection[] = [];
  /** The connections that run statements, each with the kind of its statement. */
  readonly #used = new Map<Connection, Share>();
  readonly #late: LateStatements<Connection>;
  readonly #changed: (() => void)[] = [];
  #isConnecting = false;
  #isClosed = false;
  #lastAttemptAt = 0;
  #nextAttemptAt = 0;
  #failedAttempts = 0;
  #lastError: unknown;
  readonly #clockListeners: ((error: Error) => void)[] = [];

  constructor(options: ConnectionPoolOptions<Connection>) {
    const { maxWaiting = 10_000 } = options;
    this.#options = { retryDelay: 500, timeout: defaultTimeout, ...options };
    // The cast is safe, because `shares` has only these keys.
    const shares = Object.entries(options.shares) as [Share, number][];
    const turns = new Map(shares.map(([share, max]) => [share, new Turns(max, maxWaiting)]));
    const lists = turns.get('lists');
    this.#turns = lists ? turns.set('searches', new Turns(1, maxWaiting, lists)) : turns;
    this.#max = shares.reduce((sum, [, max]) => sum + max, 0);
    this.#late = new LateStatements((each) => this.#isCommitting(each), options.onUnsettled);
  }

  /**
   * Runs a statement. The pool cancels the statement at its deadline, and the caller gets an error at
   * `until`. The pool runs a statement with `isRepeatable` again when its connection is lost. Servers may
   * close idle connections.
   *
   * @throws PlantStoreError `overloaded` when too many statements wait; an error of the connection or
   *   the database
   */
  readonly run = async (
    text: string,
    values: Parameters<Run>[1],
    { isRepeatable, rowsAs, ...call }: StatementOptions,
  ): Promise<Rows> => {
    const { deadline = deadlineIn(this.#options.timeout) } = call;
    const options = { ...call, text, deadline };
    const query = (connection: Connection) => {
      const sent = typeof values === 'function' ? values(connection.timeOf(deadline)) : values;
      return connection.query(text, sent, rowsAs);
    };
    try {
      return await this.use(options, query);
    } catch (error) {
      if (!isRepeatable || !isLostConnection(error)) throw error;
      return await this.use(options, query);
    }
  };

  /**
   * Uses a connection for one task, which `text` describes to listeners. When no connection is open, the task
   * waits for the next attempt to connect. When the attempt fails, the task fails with its error.
   */
  async use<T>(
    {
      text,
      share,
      deadline = deadlineIn(this.#options.timeout),
      until = deadline,
      caller,
      onTurn,
    }: Pick<RunOptions, 'share' | 'deadline' | 'until' | 'caller' | 'onTurn'> & { text: string },
    start: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const turns = this.#turnsOf(share);
    const madeAt = performance.now();
    const wait = (lists.includes(share) ? listWait : 1) * (until - madeAt);
    await turns.take({ deadline: deadlineIn(wait), caller });
    let connection: Connection;
    try {
      onTurn?.();
      connection = await this.#acquire(until);
    } catch (cause) {
      turns.give();
      // The error came from the caller's `onTurn`, so the connection is still usable.
      if (cause instanceof PlantStoreError) throw cause;
      throw new NotSentError(rootMessage(cause), { cause });
    }
    this.#used.set(connection, share);
    let hasEnded = false;
    const begin = async () => {
      const startedAt = performance.now();
      try {
        if (startedAt >= deadline) throw lateWriteError();
        if (!diagnostics.statement.hasSubscribers) return await start(connection);
        const statement = { text, share, madeAt, startedAt, address: connection.address };
        return await diagnostics.statement.tracePromise(start, statement, undefined, connection);
      } finally {
        addDatabaseTime(caller, startedAt);
        hasEnded = true;
      }
    };
    const running = begin();
    let freed: Promise<void> | undefined;
    try {
      const result = await beforeDeadline(running, deadline).catch((error: unknown) => {
        if (hasEnded) throw error;
        freed = this.#free(connection, running, until);
        if (until > deadline) return beforeDeadline(running, until);
        throw error;
      });
      turns.complete();
      return result;
    } catch (error) {
      this.#options.onError?.(error);
      if (!freed && !this.#isUsableAfter(error)) this.#replace(connection);
      throw this.#checkClock(error, deadline);
    } finally {
      if (freed) void freed.then(() => this.#release(connection, turns));
      else this.#release(connection, turns);
    }
  }

  /** See `Database`. */
  readonly mayCommit = async (share: Share): Promise<boolean> => {
    const used = [...this.#used].flatMap(([connection, kind]) =>
      kind === share ? connection : [],
    );
    const states = await Promise.all(used.map((each) => this.#isCommitting(each)));
    // A statement that is not in a commit waits for a lock, so a new statement need not wait for a slow disk.
    return used.length > 0 && states.every((isCommitting) => isCommitting !== false);
  };

  /** Describes the pool under this name. */
  state(name: string): PoolState {
    const turns = [...this.#turns.values()].reduce((sum, { waiting }) => sum + waiting, 0);
    const idle = this.#idle.length;
    const newest = [...this.#connections.keys()].at(-1);
    return {
      name,
      used: this.#open.size - idle,
      idle,
      waiting: turns + this.#changed.length,
      unsettled: this.#late.unsettled,
      clockAhead: newest ? Date.parse(newest.timeOf(performance.now())) - Date.now() : 0,
    };
  }

  /** Adds a listener, for the case that the clocks of the database and this machine move apart. */
  onClockMoved(listener: (error: Error) => void): void {
    this.#clockListeners.push(listener);
  }

  /** Adds `by` connections for a kind of statement. */
  resize(share: Share, by: number): void {
    this.#max += by;
    this.#turnsOf(share).resize(by);
    this.#wake();
  }

  /**
   * Replaces idle connections now, and busy connections after their statements. Connections that are still
   * being opened are replaced later.
   */
  replaceAll(): void {
    for (const connection of this.#idle) this.#close(connection);
    this.#idle = [];
    // When statements give their connections back, the pool closes these connections.
    this.#connections = new Map();
  }

  /**
   * Closes idle connections now, and busy connections after their statements. Cancels long statements,
   * because a server does not end a statement when its client disconnects. New statements fail. Resolves when
   * all connections are closed.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.replaceAll();
    this.#wake();
    await Promise.race([this.#allClosed(), setTimeout(closeGrace, undefined, { ref: false })]);
    for (const connection of this.#open) if (connection.isOpen) this.#close(connection);
    await this.#allClosed();
  }

  async #allClosed(): Promise<void> {
    while (this.#open.size > 0) await this.#change();
  }

  async #acquire(deadline: Deadline, more = 0): Promise<Connection> {
    const failedBefore = this.#failedAttempts;
    for (;;) {
      if (this.#isClosed) throw new Error('the store is closed');
      const idle = this.#idle.pop();
      if (idle && this.#isFresh(idle)) return idle;
      if (idle) {
        this.#close(idle);
        continue;
      }
      const isEmpty = this.#connections.size === 0;
      if (isEmpty && this.#failedAttempts > failedBefore) throw this.#lastError;
      if (this.#open.size < this.#max + more) void this.#connect();
      await beforeDeadline(this.#change(), deadline);
    }
  }

  #release(connection: Connection, turns: Turns): void {
    this.#used.delete(connection);
    this.#addIdle(connection);
    turns.give();
  }

  #addIdle(connection: Connection, isSurplus = this.#open.size > this.#max): void {
    if (this.#isFresh(connection) && !isSurplus && !this.#isClosed) this.#idle.push(connection);
    else this.#close(connection);
    this.#wake();
  }

  #isFresh(connection: Connection): boolean {
    const openedAt = this.#connections.get(connection) ?? Number.NEGATIVE_INFINITY;
    return connection.isOpen && performance.now() - openedAt < maxAge;
  }

  /**
   * Whether the error of one statement leaves all connections usable. A server that has become read-only may
   * accept writes in a new session, so the pool regularly opens new sessions. Reads continue until then.
   */
  #isUsableAfter(error: unknown): boolean {
    if (isUnconfirmedCommit(error)) return true;
    if (!isStatementError(error)) return false;
    const isRecent = performance.now() - this.#lastAttemptAt < 2 * this.#options.retryDelay;
    return databaseCode(error) !== readOnlyCode || isRecent;
  }

  /** Ends a task at its deadline. Resolves when the connection is free or was dropped. */
  async #free(connection: Connection, running: Promise<unknown>, until: Deadline): Promise<void> {
    // A network that has silently dropped one connection may also have dropped the idle connections.
    for (const idle of this.#idle) this.#connections.delete(idle);
    const isWrite = writes.includes(this.#used.get(connection));
    const end = await this.#late.end(connection, running, { until, isWrite });
    if (end === 'silent') this.#connections.delete(connection);
    else if ('error' in end && !this.#isUsableAfter(end.error)) this.#replace(connection);
  }

  /** Whether the server is in a commit on this connection. The result is undefined when unknown. */
  async #isCommitting(connection: Connection): Promise<boolean | undefined> {
    const deadline = deadlineIn(askTimeout);
    let other: Connection | undefined;
    try {
      // The question about a commit may use an extra connection, because all connections for statements can
      // be busy.
      other = await this.#acquire(deadline, 1);
      return await beforeDeadline(connection.isCommitting(other), deadline);
    } catch {
      if (other) this.#connections.delete(other);
      return undefined;
    } finally {
      if (other) this.#addIdle(other);
    }
  }

  #replace(connection: Connection): void {
    if (!this.#connections.has(connection)) return;
    this.replaceAll();
    this.#nextAttemptAt = this.#lastAttemptAt + this.#options.retryDelay;
  }

  /**
   * Handles a write that the database has rejected as late, although this machine's clock is still before the
   * deadline. Either a clock has moved, or this machine was paused, so the deadlines of waiting statements
   * are also wrong.
   */
  #checkClock(error: unknown, deadline: Deadline): unknown {
    const isEarly = deadline - performance.now() > clockTolerance;
    if (!isLateWrite(error) || !isEarly) return error;
    // With the severity ERROR, the caller learns that the database has changed nothing.
    const moved = Object.assign(
      new Error('the clocks of the database and of this machine have moved apart'),
      { severity: 'ERROR', code: 'CLOCKS_MOVED' },
    );
    this.replaceAll();
    for (const turns of this.#turns.values()) turns.rejectWaiting(moved);
    for (const listener of this.#clockListeners) listener(moved);
    return moved;
  }

  /** A connection counts as open until its end, so that a server never has too many connections. */
  #close(connection: Connection): void {
    this.#connections.delete(connection);
    void connection.close().then(() => {
      this.#open.delete(connection);
      this.#wake();
    });
  }

  /** Opens one more connection, unless another attempt is in progress. The promise is never rejected. */
  async #connect(): Promise<void> {
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    await setTimeout(Math.max(0, this.#nextAttemptAt - performance.now()));
    this.#lastAttemptAt = performance.now();
    try {
      const current = this.#connections;
      const connection = await this.#options.connect();
      current.set(connection, performance.now());
      this.#open.add(connection);
      this.#addIdle(connection, false);
    } catch (error) {
      this.#lastError = error;
      this.#failedAttempts++;
      this.#nextAttemptAt = this.#lastAttemptAt + this.#options.retryDelay;
    }
    this.#isConnecting = false;
    this.#wake();
  }

  #turnsOf(share: Share): Turns {
    const turns = this.#turns.get(share);
    if (!turns) throw new Error(`this database has no connections for ${share}`);
    return turns;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  #wake(): void {
    for (const resume of this.#changed.splice(0)) resume();
  }
}

const lists: Share[] = ['lists', 'searches'];
const writes: (Share | undefined)[] = ['creates', 'deletes'];

/** Whether the server or the network closed the connection of a statement. */
function isLostConnection(error: unknown): boolean {
  return ['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01'].includes(databaseCode(error) ?? '');
}
