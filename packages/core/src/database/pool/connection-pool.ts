import { databaseCode, rootMessage } from '../../error-causes.ts';
import { PlantStoreError } from '../../plant-store-error.ts';
import type { DatabaseConnection, PoolState } from '../database.ts';
import {
  isLateWrite,
  isStatementError,
  isUnconfirmedCommit,
  lateWriteError,
  NotSentError,
} from '../database-error.ts';
import {
  addDatabaseTime,
  beforeDeadline,
  type Deadline,
  deadlineIn,
  defaultTimeout,
} from '../deadline.ts';
import { diagnostics } from '../diagnostics.ts';
import { readOnlyCode } from '../explain-database-error.ts';
import type { Rows } from '../query.ts';
import type { Run, RunOptions, Share, StatementOptions } from '../verbs.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { LateStatements } from './late-statements.ts';
import { Turns } from './turns.ts';

interface ConnectionPoolOptions<Connection> extends Omit<ConnectionsOptions<Connection>, 'max'> {
  /** The number of connections for each kind of statement. */
  readonly shares: Partial<Record<Share, number>>;
  /** The time limit of a statement without a deadline, in milliseconds. Default: 5 s. */
  readonly timeout?: number;
  /** The maximum number of waiting statements of one kind. */
  readonly maxWaiting?: number;
  /** Called with the error of each failed statement. */
  readonly onError?: (error: unknown) => void;
  /** Called when a write is still committing a second after the write's deadline. */
  readonly onUnsettled?: () => void;
}

/**
 * The part of a list's time limit for which the list may wait for a turn. After a longer wait, the database
 * would cancel the list at the time limit, and the error would not be `overloaded`.
 */
export const listWait = 0.8;

/** The tolerated difference between two clocks, in milliseconds. */
const clockTolerance = 1_000;

/**
 * Runs statements on the connections to one database node. Each connection runs one statement at a time. Each
 * kind of statement has its own connections, so that one kind cannot block another.
 *
 * After an error of one connection, the pool replaces all connections, because an unreachable, silent or
 * read-only server usually affects every connection.
 */
export class ConnectionPool<Connection extends DatabaseConnection = DatabaseConnection> {
  readonly #timeout: number;
  readonly #onError: ((error: unknown) => void) | undefined;
  readonly #turns: ReadonlyMap<Share, Turns>;
  readonly #connections: Connections<Connection>;
  /** The connections that are running a statement, and the kind of each statement. */
  readonly #used = new Map<Connection, Share>();
  readonly #late: LateStatements<Connection>;
  readonly #clockListeners: ((error: Error) => void)[] = [];

  constructor({ shares, maxWaiting = 10_000, ...options }: ConnectionPoolOptions<Connection>) {
    this.#timeout = options.timeout ?? defaultTimeout;
    this.#onError = options.onError;
    // The cast is safe, because `shares` has only these keys.
    const maxima = Object.entries(shares) as [Share, number][];
    const turns = new Map(maxima.map(([share, max]) => [share, new Turns(max, maxWaiting)]));
    const lists = turns.get('lists');
    this.#turns = lists ? turns.set('searches', new Turns(1, maxWaiting, lists)) : turns;
    const max = maxima.reduce((sum, [, max]) => sum + max, 0);
    this.#connections = new Connections({ ...options, max });
    this.#late = new LateStatements(this.#connections, options.onUnsettled);
  }

  /**
   * Runs a statement. The pool cancels the statement at its deadline, and the caller gets an error at
   * `until`. Servers may close idle connections. When the connection is lost, the pool runs a statement with
   * `isRepeatable` again.
   *
   * @throws PlantStoreError `overloaded` when too many statements wait. Also throws the errors of the
   *   connection and the database.
   */
  readonly run = async (
    text: string,
    values: Parameters<Run>[1],
    { isRepeatable, rowsAs, ...call }: StatementOptions,
  ): Promise<Rows> => {
    const { deadline = deadlineIn(this.#timeout) } = call;
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
   * waits for the next attempt to connect. If the attempt fails, `use` throws the error of the attempt.
   */
  async use<T>(
    {
      text,
      share,
      deadline = deadlineIn(this.#timeout),
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
      connection = await this.#connections.take(until);
    } catch (cause) {
      turns.give();
      // This error is from `onTurn`, and not from a connection.
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
      this.#onError?.(error);
      if (!freed) this.#replaceAfter(error, connection);
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
    const states = await Promise.all(used.map((each) => this.#late.isCommitting(each)));
    // A statement that is not committing may wait for a lock, and not for a slow disk. A new statement may
    // then be fast.
    return used.length > 0 && states.every((isCommitting) => isCommitting !== false);
  };

  state(name: string): PoolState {
    const turns = [...this.#turns.values()].reduce((sum, { waiting }) => sum + waiting, 0);
    const { open, idle, waiting } = this.#connections.counts;
    const { newest } = this.#connections;
    return {
      name,
      used: open - idle,
      idle,
      waiting: turns + waiting,
      unsettled: this.#late.unsettled,
      clockAhead: newest ? Date.parse(newest.timeOf(performance.now())) - Date.now() : 0,
    };
  }

  /** Adds a listener, which is called when the clocks of the database and this machine move apart. */
  onClockMoved(listener: (error: Error) => void): void {
    this.#clockListeners.push(listener);
  }

  /** Adds `by` connections for a kind of statement. */
  resize(share: Share, by: number): void {
    this.#connections.grow(by);
    this.#turnsOf(share).resize(by);
  }

  /** See `Connections`. */
  replaceAll(): void {
    this.#connections.replaceAll();
  }

  /**
   * Closes idle connections now, and busy connections after their statements. Cancels long statements,
   * because a server does not end a statement when its client disconnects. Rejects new statements. Resolves
   * when all connections are closed.
   */
  close(): Promise<void> {
    return this.#connections.close();
  }

  #release(connection: Connection, turns: Turns): void {
    this.#used.delete(connection);
    this.#connections.give(connection);
    turns.give();
  }

  /**
   * Replaces all connections after an error that concerns more than one statement. A server that has become
   * read-only may accept writes in a new session, so the pool regularly opens new sessions. Between these
   * attempts, reads continue on the old sessions.
   */
  #replaceAfter(error: unknown, connection: Connection): void {
    if (isUnconfirmedCommit(error)) return;
    const isReadOnly = databaseCode(error) === readOnlyCode;
    const isUsable = !isReadOnly || this.#connections.hasRecentAttempt;
    if (isStatementError(error) && isUsable) return;
    this.#connections.replaceAllAfterErrorOf(connection);
  }

  /** Ends a task at its deadline. Resolves when the connection is free or was dropped. */
  async #free(connection: Connection, running: Promise<unknown>, until: Deadline): Promise<void> {
    // A network that has silently dropped one connection may also have dropped the idle connections.
    this.#connections.closeIdle();
    const isWrite = writes.includes(this.#used.get(connection));
    const end = await this.#late.end(connection, running, { until, isWrite });
    if (end === 'silent') this.#connections.drop(connection);
    else if ('error' in end) this.#replaceAfter(end.error, connection);
  }

  /**
   * Handles a write that the database has rejected as late, although the deadline has not passed on this
   * machine's clock. The cause is a clock that has moved, or a pause of this machine. This cause also makes
   * the deadlines of the waiting statements wrong.
   */
  #checkClock(error: unknown, deadline: Deadline): unknown {
    const isEarly = deadline - performance.now() > clockTolerance;
    if (!isLateWrite(error) || !isEarly) return error;
    // The severity ERROR tells the caller that the database has changed nothing.
    const moved = Object.assign(
      new Error('the clocks of the database and of this machine have moved apart'),
      { severity: 'ERROR', code: 'CLOCKS_MOVED' },
    );
    this.replaceAll();
    for (const turns of this.#turns.values()) turns.rejectWaiting(moved);
    for (const listener of this.#clockListeners) listener(moved);
    return moved;
  }

  #turnsOf(share: Share): Turns {
    const turns = this.#turns.get(share);
    if (!turns) throw new Error(`this database has no connections for ${share}`);
    return turns;
  }
}

const lists: Share[] = ['lists', 'searches'];
const writes: (Share | undefined)[] = ['creates', 'deletes'];

/** Whether the server or the network closed the connection of a statement. */
function isLostConnection(error: unknown): boolean {
  return ['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01'].includes(databaseCode(error) ?? '');
}
