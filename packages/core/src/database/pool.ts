import { setInterval, setTimeout } from 'node:timers/promises';
import { PlantStoreError, rootMessage } from '../plant-store-error.ts';
import type { Database, Kind, PoolState, Rows, Run, RunOptions, Values } from './database.ts';
import { addDatabaseTime, beforeDeadline, type Deadline, deadlineOf } from './deadline.ts';
import { observeStatement, statementObservers } from './diagnostics.ts';
import {
  callerDisconnected,
  explainError,
  isLateWrite,
  isLostConnection,
  isReadOnlyError,
  lateWriteError,
  NotSentError,
  OverdueError,
} from './errors.ts';

/** A session of the database. It runs one statement at a time. */
export interface Session {
  /** False when the connection is lost. A lost session is never used again. */
  readonly isOpen: boolean;
  /** When the session was opened, on the clock `performance.now()`. */
  readonly openedAt: number;
  /** Formats a deadline as a time on the database's clock. */
  timeOf(deadline: Deadline): string;
  query(text: string, values: Values): Promise<Rows>;
  /** Closes the connection, and rejects the running statement. */
  drop(): void;
}

export interface Driver {
  readonly connections: Readonly<Record<Kind, number>>;
  open(kind: Kind): Promise<Session>;
  /** Returns those of the overdue statements on which the database works. The promise is never rejected. */
  working(overdue: readonly Statement[]): Promise<readonly Statement[]>;
  close?(): Promise<void>;
}

/** A statement that runs. */
export interface Statement {
  readonly session: Session;
  readonly deadline: Deadline;
}

/** The maximum number of statements of one kind that wait. */
const maxWaiting = 10_000;

/** The time after a failed attempt to open a session, in which every statement gets the same error. */
const retryDelay = 500;

/** The maximum age of a session, in milliseconds. Its `timeOf` becomes wrong when the clocks drift. */
const maxAge = 10 * 60_000;

/** A write that is late although its deadline is this far away shows that a clock has moved. */
const clockTolerance = 1_000;

/** The time for which `close` waits for running statements, in milliseconds. */
const closeGrace = 300;

/**
 * Runs the statements of a store. Each kind of statement has its own sessions, and one queue in front of them.
 *
 * When the database is silent, the caller gets an error at the deadline, but the statement keeps its session.
 * So a database that is slow, or that waits for its standby, never has more sessions than the pool. Once a
 * second, the pool asks the driver about overdue statements, and drops the sessions on which the database does
 * not work. A dropped session ends its statement with the error of a lost connection.
 */
export class Pool implements Database {
  readonly connections: Database['connections'];
  readonly #driver: Driver;
  readonly #lanes: readonly Lane[];
  #isClosed = false;
  /** Older sessions are replaced when they are free. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** Settles when the last attempt to open a session has ended. */
  #opening: Promise<unknown> = Promise.resolve();
  #openingError: unknown;
  #retryAt = 0;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.connections = driver.connections;
    // The cast is safe, because the keys of `connections` are the kinds.
    const sizes = Object.entries(driver.connections) as [Kind, number][];
    this.#lanes = sizes.map(([kind, size]) => new Lane(kind, size));
    void this.#endOverdue();
  }

  // The casts give the rows the columns that the caller's text selects.
  readonly write = ((text, values, options) =>
    this.#run(text, values, options).catch((error) => {
      throw explainError(error, options.advice);
    })) as Run;

  readonly read = ((text, values, options) => {
    const call = { ...options, deadline: deadlineOf(options) };
    return this.write(text, values, call).catch((error) => {
      if (!isLostConnection(error)) throw error;
      return this.write(text, values, call);
    });
  }) as Run;

  async #run(text: string, values: Parameters<Run>[1], options: RunOptions): Promise<Rows> {
    const deadline = deadlineOf(options);
    const { kind, caller, calls = [{ caller }], until = deadline } = options;
    const lane = this.#lanes.find((each) => each.kind === kind);
    if (!lane || this.#isClosed) throw new NotSentError('the store is closed');
    await lane.enter(deadline, caller);
    const startedAt = performance.now();
    const ended = this.#use(lane, deadline, (session) => {
      const sent = typeof values === 'function' ? values(session.timeOf(deadline)) : values;
      const query = () => session.query(text, sent);
      if (statementObservers.size === 0) return query();
      return observeStatement({ text, callers: calls.flatMap((call) => call.caller ?? []) }, query);
    }).finally(() => lane.leave());
    try {
      if (until === Number.POSITIVE_INFINITY) return await ended;
      return await beforeDeadline(ended, until, () => new OverdueError());
    } finally {
      addDatabaseTime(caller, startedAt);
    }
  }

  /** Sends one statement in an idle or a new session. */
  async #use(
    lane: Lane,
    deadline: Deadline,
    send: (session: Session) => Promise<Rows>,
  ): Promise<Rows> {
    let session = lane.idle.pop();
    if (!session || !this.#isUsable(session)) {
      session?.drop();
      session = await this.#open(lane.kind);
    }
    const statement = { session, deadline };
    lane.running.add(statement);
    try {
      if (performance.now() >= deadline) throw lateWriteError();
      return await send(session);
    } catch (error) {
      this.#dropAfter(error, statement);
      throw error;
    } finally {
      lane.running.delete(statement);
      if (this.#isUsable(session)) lane.idle.push(session);
      else session.drop();
    }
  }

  #isUsable({ isOpen, openedAt }: Session): boolean {
    const isYoung = openedAt > this.#renewedAt && performance.now() - openedAt < maxAge;
    return isOpen && isYoung && !this.#isClosed;
  }

  /** Opens a session. Sessions are opened one after the other. */
  #open(kind: Kind): Promise<Session> {
    const opening = this.#opening.then(async () => {
      if (performance.now() < this.#retryAt) throw this.#openingError;
      try {
        return await this.#driver.open(kind);
      } catch (cause) {
        this.#retryAt = performance.now() + retryDelay;
        this.#openingError = new NotSentError(rootMessage(cause), { cause });
        throw this.#openingError;
      }
    });
    this.#opening = opening.catch(() => {});
    return opening;
  }

  /** Drops the sessions that are probably useless after the error of a statement. */
  #dropAfter(error: unknown, { session, deadline }: Statement): void {
    const now = performance.now();
    if (isLostConnection(error)) {
      session.drop();
      // A server or a network that has lost one connection has usually lost the idle ones, too.
      this.#dropIdle();
    }
    const isClockWrong = isLateWrite(error) && deadline - now > clockTolerance;
    // A new session may reach a server that accepts writes. Between two renewals, reads go on.
    if ((isReadOnlyError(error) || isClockWrong) && now - this.#renewedAt > retryDelay) {
      this.#renewedAt = now;
      this.#dropIdle();
    }
  }

  #dropIdle(): void {
    for (const session of this.#lanes.flatMap(({ idle }) => idle.splice(0))) session.drop();
  }

  /** Once a second, drops the sessions of overdue statements on which the database does not work. */
  async #endOverdue(): Promise<void> {
    for await (const _ of setInterval(1_000, undefined, { ref: false })) {
      if (this.#isClosed) return;
      const overdue = this.#lanes.flatMap((lane) => lane.overdue);
      const working = overdue.length === 0 ? [] : await this.#driver.working(overdue);
      const running = new Set(this.#lanes.flatMap((lane) => [...lane.running]));
      for (const each of overdue) {
        if (running.has(each) && !working.includes(each)) each.session.drop();
      }
    }
  }

  readonly pool = (): PoolState => {
    const [session] = this.#lanes.flatMap(({ idle }) => idle);
    const clockAhead = session ? Date.parse(session.timeOf(performance.now())) - Date.now() : 0;
    const waiting = this.#lanes.reduce((sum, lane) => sum + lane.waiting.size, 0);
    return { waiting, overdue: this.#lanes.flatMap((lane) => lane.overdue).length, clockAhead };
  };

  /** Closes idle sessions now, and the others after their statements, but waits only for a moment. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#lanes.flatMap(({ waiting }) => [...waiting])) {
      reject(new NotSentError('the store is closed'));
    }
    this.#dropIdle();
    const running = () => this.#lanes.flatMap((lane) => [...lane.running]);
    const until = performance.now() + closeGrace;
    while (running().length > 0 && performance.now() < until) await setTimeout(10);
    for (const { session } of running()) session.drop();
    await this.#driver.close?.();
  }
}

/** The sessions for one kind of statement, and the queue in front of them. */
class Lane {
  readonly kind: Kind;
  readonly idle: Session[] = [];
  readonly running = new Set<Statement>();
  readonly waiting = new Set<PromiseWithResolvers<void> & Pick<RunOptions, 'caller'>>();
  /** The number of further statements that may have a session. */
  free: number;

  constructor(kind: Kind, size: number) {
    this.kind = kind;
    this.free = size;
  }

  get overdue(): Statement[] {
    const now = performance.now();
    return [...this.running].filter(({ deadline }) => deadline < now);
  }

  /** Resolves when a statement may have a session. Its place is taken until it leaves. */
  async enter(deadline: Deadline, caller: RunOptions['caller']): Promise<void> {
    if (this.free > 0) {
      this.free--;
      return;
    }
    if (this.waiting.size >= maxWaiting) throw tooManyWait();
    const place = { ...Promise.withResolvers<void>(), caller };
    this.waiting.add(place);
    await beforeDeadline(place.promise, deadline, () => {
      this.waiting.delete(place);
      return new NotSentError('no connection was free in time');
    });
  }

  leave(): void {
    for (const place of this.waiting) {
      this.waiting.delete(place);
      if (!place.caller?.isGone) {
        place.resolve();
        return;
      }
      place.reject(callerDisconnected());
    }
    this.free++;
  }
}

function tooManyWait(): PlantStoreError {
  const message =
    'too many such requests are waiting already: nothing was written, send the request again later';
  return new PlantStoreError('overloaded', message);
}
