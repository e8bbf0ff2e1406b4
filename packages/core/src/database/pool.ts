import { drizzle } from 'drizzle-orm/pg-proxy';
import { rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import type { Database, Kind, PoolState, Rows, Run, RunOptions, Values } from './database.ts';
import {
  addDatabaseTime,
  beforeDeadline,
  type Caller,
  type Deadline,
  deadlineIn,
  defaultTimeout,
} from './deadline.ts';
import { diagnostics } from './diagnostics.ts';
import {
  callerDisconnected,
  hasInvalidText,
  invalidText,
  isLateWrite,
  isLostConnection,
  isReadOnlyError,
  lateWriteError,
  NotSentError,
  OverdueError,
  orUnavailable,
} from './errors.ts';

/** A session of the database. It runs one statement at a time, and is never used again after `drop`. */
export interface Session {
  /** False when the connection is lost. */
  readonly isOpen: boolean;
  readonly address?: { readonly host: string; readonly port: number } | undefined;
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
}

/** A statement that runs. */
export interface Statement {
  readonly session: Session;
  readonly kind: Kind;
  readonly deadline: Deadline;
}

/** The maximum number of statements of one kind that wait. */
const maxWaiting: Readonly<Record<Kind, number>> = {
  ...{ creates: 10_000, deletes: 10_000, reads: 10_000 },
  ...{ counts: 100, searches: 100, changes: 100 },
};

/** After an error, the time from one attempt to connect to the next one, in milliseconds. */
const retryDelay = 500;

/** The maximum age of a session, in milliseconds. Its `timeOf` becomes wrong when the clocks drift. */
const maxAge = 10 * 60_000;

/** A write that is late although its deadline is this far away shows that a clock has moved. */
const clockTolerance = 1_000;

/** The time for which `close` waits for running statements, in milliseconds. */
const closeGrace = 300;

interface Waiting {
  readonly resolve: (session: Session) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: Deadline;
  readonly caller: Caller | undefined;
  /** The number of statements of this kind that had ended when this statement began to wait. */
  readonly endedBefore: number;
}

/** The sessions of one kind, and its queue. */
class Queue {
  readonly open = new Set<Session>();
  readonly idle: Session[] = [];
  waiting: Waiting[] = [];
  ended = 0;
}

/**
 * Runs statements, each on a session of its kind. A session stays with its statement until the statement ends,
 * even after its caller has got an error. So a database that is slow, or that waits for its standby, never
 * gets more sessions than the pool has. Once a second, the pool asks the driver about the statements that are
 * overdue, and drops the sessions that the database does not work on.
 */
export class Pool {
  readonly #driver: Driver;
  readonly #queues: Readonly<Record<Kind, Queue>>;
  readonly #running = new Set<Statement>();
  /** The time at which each session was opened. A session that is not in this map is closed when it is free. */
  #current = new Map<Session, number>();
  #isOpening = false;
  #isClosed = false;
  #isAsking = false;
  #nextAttemptAt = 0;
  #replacedAt = Number.NEGATIVE_INFINITY;
  readonly #clock: NodeJS.Timeout;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#queues = {
      ...{ creates: new Queue(), deletes: new Queue(), reads: new Queue() },
      ...{ counts: new Queue(), searches: new Queue(), changes: new Queue() },
    };
    this.#clock = setInterval(() => void this.#endOverdue(), 1_000).unref();
  }

  /** Runs a statement. Throws the errors of the connection and the database. */
  async run(text: string, values: Parameters<Run>[1], options: RunOptions): Promise<Rows> {
    const { kind, deadline = deadlineIn(defaultTimeout), until = deadline, caller } = options;
    const madeAt = performance.now();
    const session = await this.#take(kind, deadline, caller);
    const statement = { session, kind, deadline };
    const startedAt = performance.now();
    let running: Promise<Rows>;
    try {
      options.onTurn?.();
      if (startedAt >= deadline) throw lateWriteError();
      const sent = typeof values === 'function' ? values(session.timeOf(deadline)) : values;
      const traced = { text, kind, madeAt, startedAt, address: session.address };
      running = diagnostics.statement.hasSubscribers
        ? diagnostics.statement.tracePromise(() => session.query(text, sent), traced)
        : session.query(text, sent);
    } catch (error) {
      this.#give(kind, session);
      throw error;
    }
    this.#running.add(statement);
    const ended = running.then(
      () => this.#end(statement),
      (error: unknown) => this.#end(statement, error),
    );
    try {
      if (until === Number.POSITIVE_INFINITY) return await running;
      return await beforeDeadline(running, until, () => new OverdueError(ended));
    } finally {
      addDatabaseTime(caller, startedAt);
    }
  }

  /** Returns an idle session, or waits for one. */
  #take(kind: Kind, deadline: Deadline, caller: Caller | undefined): Session | Promise<Session> {
    if (this.#isClosed) throw new NotSentError('the store is closed');
    const queue = this.#queues[kind];
    for (let idle = queue.idle.pop(); idle; idle = queue.idle.pop()) {
      if (this.#isUsable(idle)) return idle;
      this.#drop(kind, idle);
    }
    if (queue.waiting.length >= maxWaiting[kind]) {
      this.#rejectWaiting(queue, ({ caller }) => caller?.isGone && callerDisconnected());
    }
    if (queue.waiting.length >= maxWaiting[kind]) throw tooManyWait();
    const { promise, resolve, reject } = Promise.withResolvers<Session>();
    const waiting = { resolve, reject, deadline, caller, endedBefore: queue.ended };
    queue.waiting.push(waiting);
    void this.#openMore();
    return beforeDeadline(promise, deadline, () => {
      queue.waiting = queue.waiting.filter((each) => each !== waiting);
      if (queue.ended > waiting.endedBefore) return tooManyWait();
      return new NotSentError('no connection was free in time');
    });
  }

  /** Gives a session to the next statement that waits, or keeps it. */
  #give(kind: Kind, session: Session): void {
    const queue = this.#queues[kind];
    if (!this.#isUsable(session)) {
      this.#drop(kind, session);
      void this.#openMore();
      return;
    }
    const next = queue.waiting.shift();
    if (!next) queue.idle.push(session);
    else if (!next.caller?.isGone) next.resolve(session);
    else {
      next.reject(callerDisconnected());
      this.#give(kind, session);
    }
  }

  #end(statement: Statement, error?: unknown): void {
    const { session, kind, deadline } = statement;
    this.#running.delete(statement);
    this.#queues[kind].ended++;
    const now = performance.now();
    if (error !== undefined && isLostConnection(error)) {
      session.drop();
      // A server or a network that has lost one connection has usually lost the others, too.
      this.#dropIdle();
    }
    // Another session may accept writes again. Between two replacements, reads go on.
    const isReadOnly = isReadOnlyError(error) && now - this.#replacedAt > retryDelay;
    const hasMoved = isLateWrite(error) && deadline - now > clockTolerance;
    if (isReadOnly || hasMoved) this.#replaceAll();
    this.#give(kind, session);
  }

  /** Opens sessions, one after the other, while statements wait for more sessions than are open. */
  async #openMore(): Promise<void> {
    const kind = this.#kinds.find((each) => {
      const { waiting, open } = this.#queues[each];
      return waiting.length > 0 && open.size < this.#driver.connections[each];
    });
    if (kind === undefined || this.#isOpening || this.#isClosed) return;
    this.#isOpening = true;
    const pause = this.#nextAttemptAt - performance.now();
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    const startedAt = performance.now();
    try {
      const session = await this.#driver.open(kind);
      this.#current.set(session, startedAt);
      this.#queues[kind].open.add(session);
      this.#give(kind, session);
    } catch (cause) {
      this.#nextAttemptAt = startedAt + retryDelay;
      const error = new NotSentError(rootMessage(cause), { cause });
      for (const queue of Object.values(this.#queues)) {
        if (queue.open.size === 0) this.#rejectWaiting(queue, () => error);
      }
    }
    this.#isOpening = false;
    void this.#openMore();
  }

  /** Drops the sessions of overdue statements on which the database does not work. */
  async #endOverdue(): Promise<void> {
    const overdue = this.#overdue();
    if (overdue.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    const working = await this.#driver.working(overdue);
    this.#isAsking = false;
    for (const statement of overdue) {
      // The statement ends with the error of a lost connection.
      if (this.#running.has(statement) && !working.includes(statement)) statement.session.drop();
    }
  }

  #overdue(kind?: Kind): Statement[] {
    const now = performance.now();
    return [...this.#running].filter(
      (each) => each.deadline < now && (kind === undefined || each.kind === kind),
    );
  }

  #isUsable(session: Session): boolean {
    const openedAt = this.#current.get(session) ?? Number.NEGATIVE_INFINITY;
    return session.isOpen && !this.#isClosed && performance.now() - openedAt < maxAge;
  }

  #drop(kind: Kind, session: Session): void {
    session.drop();
    this.#current.delete(session);
    this.#queues[kind].open.delete(session);
  }

  #dropIdle(): void {
    for (const kind of this.#kinds) {
      for (const session of this.#queues[kind].idle.splice(0)) this.#drop(kind, session);
    }
  }

  /** Replaces idle sessions now, and the others when they become free. */
  #replaceAll(): void {
    this.#replacedAt = performance.now();
    this.#dropIdle();
    this.#current = new Map();
  }

  #rejectWaiting(queue: Queue, errorOf: (waiting: Waiting) => Error | false | undefined): void {
    queue.waiting = queue.waiting.filter((each) => {
      const error = errorOf(each);
      if (error) each.reject(error);
      return !error;
    });
  }

  get #kinds(): Kind[] {
    return Object.keys(this.#queues) as Kind[]; // The keys of `#queues` are the kinds.
  }

  state(): PoolState[] {
    const [newest] = [...this.#current.keys()].slice(-1);
    const clockAhead = newest ? Date.parse(newest.timeOf(performance.now())) - Date.now() : 0;
    return this.#kinds.map((name) => {
      const { open, idle, waiting } = this.#queues[name];
      return {
        ...{ name, used: open.size - idle.length, idle: idle.length, waiting: waiting.length },
        ...{ overdue: this.#overdue(name).length, clockAhead },
      };
    });
  }

  /** Closes idle sessions now, and the others after their statements, but waits only for a moment. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#clock);
    const error = new NotSentError('the store is closed');
    for (const queue of Object.values(this.#queues)) this.#rejectWaiting(queue, () => error);
    this.#dropIdle();
    const until = deadlineIn(closeGrace);
    while (this.#running.size > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const { session } of this.#running) session.drop();
  }
}

/** Makes the functions of `Database` that run statements. */
export function createVerbs(pool: Pool): Pick<Database, 'read' | 'write' | 'db'> {
  const runOnce = (text: string, values: Parameters<Run>[1], options: RunOptions) => {
    const rows = pool.run(text, values, options).catch((error: unknown) => {
      throw hasInvalidText(error) && hasUnicode(values) ? invalidText('text', error) : error;
    });
    return orUnavailable(rows, options.advice);
  };
  // The casts give the rows the columns that the caller's text selects.
  const write = runOnce as Run;
  const read = ((...statement) =>
    runOnce(...statement).catch((error) => {
      if (!isLostConnection(error)) throw error;
      return runOnce(...statement);
    })) as Run;
  return {
    read,
    write,
    db: (options) =>
      drizzle((text, values) => (/^select\b/i.test(text) ? read : write)(text, values, options)),
  };
}

/** Whether a parameter has a character that some encodings lack. All encodings of Postgres have ASCII. */
function hasUnicode(values: Parameters<Run>[1]): boolean {
  return typeof values !== 'function' && values.some((value) => /\P{ASCII}/u.test(value ?? ''));
}

function tooManyWait(): PlantStoreError {
  const message =
    'too many such requests are waiting already: nothing was written, send the request again later';
  return new PlantStoreError('overloaded', message);
}
