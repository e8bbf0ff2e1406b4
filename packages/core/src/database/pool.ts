import { setInterval } from 'node:timers/promises';
import { databaseCode, rootMessage } from '../plant-store-error.ts';
import type { Database, Kind, PoolState, Rows, Run, RunOptions, Values } from './database.ts';
import { type Caller, type Deadline, deadlineOf, withDeadline } from './deadline.ts';
import {
  callerDisconnected,
  closing,
  explainError,
  outcomeOf,
  overloaded,
  StatementError,
} from './errors.ts';

/** A session of the database, which runs one statement at a time. */
export interface Session {
  /**
   * The name of the session in the database. Undefined behind a pooler and on the embedded database. Empty on a
   * cluster, where an overdue statement always ends its session.
   */
  readonly id: string | undefined;
  /** False when the connection is lost. A lost session is never used again. */
  readonly isOpen: boolean;
  /** When the session was opened, on the clock `performance.now()`. */
  readonly openedAt: number;
  /** Formats a deadline as a time on the database's clock. */
  timeOf(deadline: Deadline): string;
  query(text: string, values: Values): Promise<Rows>;
  /** Closes the connection, and rejects the running statement. Does nothing on the embedded database. */
  drop(): void;
}

export interface Driver {
  readonly connections: Readonly<Record<Kind, number>>;
  open(kind: Kind): Promise<Session>;
  /** Returns the ids of the sessions whose statements the database still executes. Never rejects. */
  working(ids: readonly string[]): Promise<ReadonlySet<unknown>>;
  close?(): Promise<void>;
}

/** The sessions for one kind of statement, and the queue of statements that wait for a session. */
interface Lane {
  /** The number of further statements that may have a session now. */
  free: number;
  readonly idle: Session[];
  readonly waiting: (PromiseWithResolvers<void> & { readonly caller: Caller | undefined })[];
}

/** The maximum number of statements of one kind that wait. */
const maxWaiting = 10_000;

/** After an attempt to open a session fails, the pool opens no session for this number of milliseconds. */
const retryDelay = 500;

/** The maximum age of a session, in milliseconds. Clocks drift, so an old session's `timeOf` may be wrong. */
const maxAge = 10 * 60_000;

/** If a write is rejected as late more than this many milliseconds before its deadline, a clock has moved. */
const clockTolerance = 1_000;

export const bulkKinds: ReadonlySet<Kind> = new Set(['counts', 'searches', 'changes']);

/** Behind a pooler, a statement keeps its connection for this many milliseconds after its deadline. */
const poolerPatience = 30_000;

/**
 * Runs the statements of a store. Each kind of statement has its own sessions, and its own queue.
 *
 * Postgres itself ends most slow statements before their deadlines: see `postgres.ts`. If a server is silent:
 *
 * 1. The caller of a statement gets an error at the deadline.
 * 2. The statement keeps its session, and the session keeps its place in the pool. So sessions do not
 *    accumulate while a database is slow or waits for its standby.
 * 3. Once a second, the pool asks in a new session which overdue statements the database still executes.
 * 4. The pool drops the sessions of the other overdue statements. If the database does not respond, the pool
 *    drops all sessions with overdue statements. These statements end with the error of a lost connection.
 * 5. If the server executes a write of plants later, the write changes nothing, because its SQL compares the
 *    deadline with the clock. The next new session ends the dropped sessions that still exist on the server.
 */
export class Pool implements Database {
  readonly connections: Database['connections'];
  readonly #driver: Driver;
  readonly #lanes: ReadonlyMap<string, Lane>;
  /** The sessions with a running statement, and the deadline of the statement. */
  readonly #running = new Map<Session, Deadline>();
  #isClosed = false;
  /** The pool replaces sessions that were opened before this time, as soon as they are free. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** Settles when the last attempt to open a session has ended. */
  #opening: Promise<unknown> = Promise.resolve();
  #openingError: unknown;
  #retryAt = 0;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.connections = driver.connections;
    const sizes = Object.entries(driver.connections);
    this.#lanes = new Map(sizes.map(([kind, free]) => [kind, { free, idle: [], waiting: [] }]));
    void this.#dropOverdue();
  }

  // The casts give the rows the types of the columns that the caller's text selects.
  readonly write = this.#run.bind(this) as Run;

  readonly read = ((text, values, options) => {
    const call = { ...options, deadline: deadlineOf(options) };
    return this.#run(text, values, call).catch((error) => {
      if (outcomeOf(error) !== 'lost') throw error;
      return this.#run(text, values, call);
    });
  }) as Run;

  async #run(text: string, values: Parameters<Run>[1], options: RunOptions): Promise<Rows> {
    const deadline = deadlineOf(options);
    const ended = this.#send(text, values, options, deadline);
    try {
      // A batcher itself rejects its calls at their deadlines.
      return await (options.sharedBy ? ended : withDeadline(ended, deadline));
    } catch (error) {
      throw explainError(error);
    }
  }

  /** Waits for a session, and sends a statement. Settles when the statement has ended. */
  async #send(
    text: string,
    values: Parameters<Run>[1],
    { kind, caller, sharedBy = [{ caller }] }: RunOptions,
    deadline: Deadline,
  ): Promise<Rows> {
    const lane = this.#lanes.get(kind);
    if (!lane || this.#isClosed) throw closing();
    if (lane.free > 0) lane.free--;
    else await turnOf(lane, caller);
    let session: Session | undefined;
    let ends: ReturnType<StatementObserver>[] = [];
    let error: unknown;
    try {
      session = lane.idle.pop();
      if (!session || !this.#isUsable(session)) {
        session?.drop();
        session = await this.#open(kind);
      }
      this.#running.set(session, deadline);
      if (performance.now() >= deadline) throw new StatementError('late', 'no connection in time');
      const sent = typeof values === 'function' ? values(session.timeOf(deadline)) : values;
      if (statementObservers.size > 0) {
        const callers = sharedBy.flatMap((call) => call.caller ?? []);
        ends = [...statementObservers].map((observe) => observe({ text, callers }));
      }
      return await session.query(text, sent);
    } catch (thrown) {
      error = thrown;
      this.#dropAfter(error, session, deadline);
      throw error;
    } finally {
      for (const end of ends) end?.(error);
      if (session) this.#takeBack(lane, session);
      letNext(lane);
    }
  }

  #takeBack(lane: Lane, session: Session): void {
    this.#running.delete(session);
    if (this.#isUsable(session)) lane.idle.push(session);
    else session.drop();
  }

  #isUsable({ isOpen, openedAt }: Session): boolean {
    const isYoung = openedAt > this.#renewedAt && performance.now() - openedAt < maxAge;
    return isOpen && isYoung && !this.#isClosed;
  }

  /** Opens a session. The pool opens sessions one after the other. */
  #open(kind: Kind): Promise<Session> {
    const opening = this.#opening.then(async () => {
      if (performance.now() < this.#retryAt) throw this.#openingError;
      try {
        return await this.#driver.open(kind);
      } catch (cause) {
        this.#retryAt = performance.now() + retryDelay;
        this.#openingError = new StatementError('notSent', rootMessage(cause), { cause });
        throw this.#openingError;
      }
    });
    this.#opening = opening.catch(() => {});
    return opening;
  }

  /** Drops the sessions that are probably useless after the error of a statement. */
  #dropAfter(error: unknown, session: Session | undefined, deadline: Deadline): void {
    const [now, outcome] = [performance.now(), outcomeOf(error)];
    if (outcome === 'lost') {
      session?.drop();
      // A server or a network that has lost one connection has usually lost the idle connections, too.
      this.#dropIdle();
    }
    const isReadOnly = outcome === 'rolledBack' && databaseCode(error) === '25006';
    const isClockWrong = outcome === 'late' && deadline - now > clockTolerance;
    // A new session may reach a server that accepts writes, and measures the database's clock again.
    if ((isReadOnly || isClockWrong) && now - this.#renewedAt > retryDelay) {
      this.#renewedAt = now;
      this.#dropIdle();
    }
  }

  #dropIdle(): void {
    for (const lane of this.#lanes.values()) {
      for (const session of lane.idle.splice(0)) session.drop();
    }
  }

  get #overdue(): Session[] {
    const now = performance.now();
    return [...this.#running].flatMap(([session, deadline]) => (deadline < now ? session : []));
  }

  /** Once a second, drops the sessions of overdue statements that the database does not execute. */
  async #dropOverdue(): Promise<void> {
    for await (const _ of setInterval(1_000, undefined, { ref: false })) {
      if (this.#isClosed) return;
      const overdue = this.#overdue;
      const ids = overdue.flatMap(({ id }) => id || []);
      const working = ids.length > 0 ? await this.#driver.working(ids) : new Set();
      for (const session of overdue) {
        const patience = session.id === undefined ? poolerPatience : 0;
        // Meanwhile, the session may have begun another statement.
        const isOverdue = Number(this.#running.get(session)) + patience < performance.now();
        if (isOverdue && !working.has(session.id)) session.drop();
      }
    }
  }

  readonly pool = (): PoolState => {
    const lanes = [...this.#lanes.values()];
    const [session] = lanes.flatMap(({ idle }) => idle);
    return {
      waiting: lanes.reduce((sum, { waiting }) => sum + waiting.length, 0),
      overdue: this.#overdue.length,
      clockAhead: session ? Date.parse(session.timeOf(performance.now())) - Date.now() : 0,
    };
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { waiting } of this.#lanes.values()) {
      for (const place of waiting.splice(0)) place.reject(closing());
    }
    this.#dropIdle();
    for (const session of this.#running.keys()) session.drop();
    await this.#driver.close?.();
  }
}

/** Resolves when a statement may have a session. */
async function turnOf({ waiting }: Lane, caller: Caller | undefined): Promise<void> {
  if (waiting.length >= maxWaiting) throw overloaded();
  const turn = { ...Promise.withResolvers<void>(), caller };
  waiting.push(turn);
  await turn.promise;
}

function letNext(lane: Lane): void {
  let next = lane.waiting.shift();
  while (next?.caller?.isGone) {
    next.reject(callerDisconnected());
    next = lane.waiting.shift();
  }
  if (next) next.resolve();
  else lane.free++;
}

/**
 * The pool calls this function when it sends a statement, and passes the text and the callers of the
 * statement. The pool calls the returned function when the statement has ended.
 */
export type StatementObserver = (sent: {
  readonly text: string;
  readonly callers: readonly Caller[];
}) => ((error?: unknown) => void) | undefined;

/** The observers of all stores in this process. */
export const statementObservers = new Set<StatementObserver>();

/** Returns the first operation of a statement, and the table of this operation. */
export function describeStatement(text: string) {
  const matches = text.matchAll(/\b(insert into|delete from|update|from) "?(\w+)(\(?)/g);
  // A name directly before a parenthesis is a function.
  const [, words = 'select', table] = matches.find(([, , , parenthesis]) => !parenthesis) ?? [];
  const [first = ''] = words.split(' ');
  return { operation: first === 'from' ? 'SELECT' : first.toUpperCase(), table };
}
