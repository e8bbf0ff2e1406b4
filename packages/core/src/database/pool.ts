import { setTimeout } from 'node:timers/promises';
import { rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import type { Database, Kind, PoolState, Rows, Run, RunOptions, Values } from './database.ts';
import { addDatabaseTime, beforeDeadline, type Deadline, deadlineOf } from './deadline.ts';
import { diagnostics, type TracedStatement } from './diagnostics.ts';
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

/** A session of the database. It runs one statement at a time. */
export interface Session {
  /** False when the connection is lost. A lost session is never used again. */
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
  readonly deadline: Deadline;
}

/** The place of one session. A statement takes the place, and the place has it until the statement ends. */
interface Place {
  session?: Session | undefined;
  /** On the clock `performance.now()`. A session that is too old is replaced when its place is free. */
  openedAt: number;
  statement?: Statement | undefined;
}

/** A statement that waits for a place. */
type Waiting = PromiseWithResolvers<Place> & Pick<RunOptions, 'caller'>;

/** The places for one kind of statement, and the queue in front of them. */
interface Queue {
  readonly kind: Kind;
  readonly places: readonly Place[];
  /** The places without a statement. The last one was used last. */
  readonly free: Place[];
  waiting: Waiting[];
  /** The number of statements that have ended. */
  ended: number;
}

/** The maximum number of statements of one kind that wait. */
const maxWaiting = 10_000;

/** After an error, the time from one attempt to open a session to the next one, in milliseconds. */
const retryDelay = 500;

/** The maximum age of a session, in milliseconds. Its `timeOf` becomes wrong when the clocks drift. */
const maxAge = 10 * 60_000;

/** A write that is late although its deadline is this far away shows that a clock has moved. */
const clockTolerance = 1_000;

/** The time for which `close` waits for running statements, in milliseconds. */
const closeGrace = 300;

/**
 * Runs statements. Each kind of statement has its own places for sessions, and one queue in front of them.
 *
 * A statement keeps its session until it ends, even after its caller has got an error. So a database that is
 * slow, or that waits for its standby, never has more sessions than there are places. Once a second, the pool
 * asks the driver about overdue statements, and drops the sessions on which the database does not work.
 */
export class Pool {
  readonly #driver: Driver;
  readonly #queues: readonly Queue[];
  #isClosed = false;
  #isAsking = false;
  #replacedAt = Number.NEGATIVE_INFINITY;
  /** Settles when the last attempt to open a session has ended. */
  #opening: Promise<unknown> = Promise.resolve();
  #failedOpenings = 0;
  #lastError: unknown;
  #nextOpeningAt = 0;
  readonly #clock: NodeJS.Timeout;

  constructor(driver: Driver) {
    this.#driver = driver;
    // The cast is safe, because the keys of `connections` are the kinds.
    this.#queues = (Object.entries(driver.connections) as [Kind, number][]).map(([kind, count]) => {
      const places = Array.from({ length: count }, (): Place => ({ openedAt: 0 }));
      return { kind, places, free: [...places], waiting: [], ended: 0 };
    });
    this.#clock = setInterval(() => void this.#endOverdue(), 1_000).unref();
  }

  /** Runs a statement. Throws the errors of the connection and the database. */
  async run(text: string, values: Parameters<Run>[1], options: RunOptions): Promise<Rows> {
    const { kind, caller } = options;
    const deadline = deadlineOf(options);
    const { until = deadline } = options;
    const madeAt = performance.now();
    const queue = this.#queues.find((each) => each.kind === kind);
    if (!queue || this.#isClosed) throw new NotSentError('the store is closed');
    const place = queue.free.pop() ?? (await this.#wait(queue, deadline, options));
    const opening = this.#isUsable(place) ? undefined : this.#open(queue, place);
    try {
      if (opening) await beforeDeadline(opening, deadline, noneInTime);
      if (performance.now() >= deadline) throw lateWriteError();
    } catch (error) {
      // An attempt to open a session keeps its place until it ends.
      void Promise.resolve(opening)
        .catch(() => {})
        .then(() => this.#give(queue, place));
      throw error;
    }
    const startedAt = performance.now();
    const running = this.#send(place, { text, kind, madeAt, startedAt }, values, deadline);
    const ended = running.then(
      () => this.#end(queue, place),
      (error: unknown) => this.#end(queue, place, error),
    );
    try {
      if (until === Number.POSITIVE_INFINITY) return await running;
      return await beforeDeadline(running, until, () => new OverdueError(ended));
    } finally {
      addDatabaseTime(caller, startedAt);
    }
  }

  async #send(
    place: Place,
    traced: Omit<TracedStatement, 'address'>,
    values: Parameters<Run>[1],
    deadline: Deadline,
  ): Promise<Rows> {
    const { session } = place;
    if (!session) throw noneInTime();
    place.statement = { session, deadline };
    const sent = typeof values === 'function' ? values(session.timeOf(deadline)) : values;
    const send = () => session.query(traced.text, sent);
    if (!diagnostics.statement.hasSubscribers) return send();
    return diagnostics.statement.tracePromise(send, { ...traced, address: session.address });
  }

  /** Waits for a free place. */
  #wait(queue: Queue, deadline: Deadline, { caller }: RunOptions): Promise<Place> {
    if (queue.waiting.length >= maxWaiting) throw tooManyWait();
    const waiting = { ...Promise.withResolvers<Place>(), caller };
    const endedBefore = queue.ended;
    queue.waiting.push(waiting);
    return beforeDeadline(waiting.promise, deadline, () => {
      queue.waiting = queue.waiting.filter((each) => each !== waiting);
      return queue.ended > endedBefore ? tooManyWait() : noneInTime();
    });
  }

  /** Gives a free place to the next statement that waits. */
  #give(queue: Queue, place: Place): void {
    place.statement = undefined;
    if (!this.#isUsable(place)) drop(place);
    for (let next = queue.waiting.shift(); next; next = queue.waiting.shift()) {
      if (next.caller?.isGone) next.reject(callerDisconnected());
      else {
        next.resolve(place);
        return;
      }
    }
    queue.free.push(place);
  }

  #end(queue: Queue, place: Place, error?: unknown): void {
    queue.ended++;
    const now = performance.now();
    const left = (place.statement?.deadline ?? now) - now;
    if (error !== undefined && isLostConnection(error)) {
      drop(place);
      // A server or a network that has lost one connection has usually lost the idle ones, too.
      this.#dropIdle();
    }
    // A new session may accept writes. Between two replacements, reads go on.
    const isReadOnly = isReadOnlyError(error) && now - this.#replacedAt > retryDelay;
    if (isReadOnly || (isLateWrite(error) && left > clockTolerance)) {
      this.#replacedAt = now;
      for (const each of this.#queues.flatMap(({ places }) => places)) each.openedAt = 0;
      this.#dropIdle();
    }
    this.#give(queue, place);
  }

  #isUsable({ session, openedAt }: Place): boolean {
    const isYoung = openedAt > 0 && performance.now() - openedAt < maxAge;
    return session?.isOpen === true && isYoung && !this.#isClosed;
  }

  /** Opens the session of a place. Sessions are opened one after the other. */
  #open({ kind }: Queue, place: Place): Promise<void> {
    drop(place);
    const failedBefore = this.#failedOpenings;
    const opening = this.#opening.then(async () => {
      // All that wait get the error of the same attempt.
      if (this.#failedOpenings > failedBefore) throw this.#lastError;
      await setTimeout(Math.max(0, this.#nextOpeningAt - performance.now()));
      const openedAt = performance.now();
      try {
        place.session = await this.#driver.open(kind);
        place.openedAt = openedAt;
      } catch (cause) {
        this.#nextOpeningAt = openedAt + retryDelay;
        this.#failedOpenings++;
        this.#lastError = new NotSentError(rootMessage(cause), { cause });
        throw this.#lastError;
      }
    });
    this.#opening = opening.catch(() => {});
    return opening;
  }

  /** Drops the sessions of overdue statements on which the database does not work. */
  async #endOverdue(): Promise<void> {
    const overdue = this.#queues.flatMap(overdueIn);
    if (overdue.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    const working = await this.#driver.working(overdue.map(({ statement }) => statement));
    this.#isAsking = false;
    for (const { place, statement } of overdue) {
      // The statement ends with the error of a lost connection.
      if (place.statement === statement && !working.includes(statement)) statement.session.drop();
    }
  }

  #dropIdle(): void {
    for (const place of this.#queues.flatMap(({ free }) => free)) drop(place);
  }

  state(): PoolState[] {
    const sessions = this.#queues.flatMap(({ places }) =>
      places.flatMap(({ session }) => session ?? []),
    );
    const [session] = sessions;
    const clockAhead = session ? Date.parse(session.timeOf(performance.now())) - Date.now() : 0;
    return this.#queues.map((queue) => {
      const idle = queue.free.filter((place) => place.session).length;
      const used = queue.places.length - queue.free.length;
      const overdue = overdueIn(queue).length;
      return { name: queue.kind, used, idle, waiting: queue.waiting.length, overdue, clockAhead };
    });
  }

  /** Closes idle sessions now, and the others after their statements, but waits only for a moment. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#clock);
    for (const { reject } of this.#queues.flatMap(({ waiting }) => waiting.splice(0))) {
      reject(new NotSentError('the store is closed'));
    }
    this.#dropIdle();
    const isBusy = () => this.#queues.some(({ places, free }) => free.length < places.length);
    const until = performance.now() + closeGrace;
    while (isBusy() && performance.now() < until) await setTimeout(10);
    for (const place of this.#queues.flatMap(({ places }) => places)) drop(place);
  }
}

function drop(place: Place): void {
  place.session?.drop();
  place.session = undefined;
}

function overdueIn({ places }: Queue) {
  const now = performance.now();
  return places.flatMap((place) => {
    const { statement } = place;
    return statement && statement.deadline < now ? [{ place, statement }] : [];
  });
}

const noneInTime = () => new NotSentError('no connection was free in time');

function tooManyWait(): PlantStoreError {
  const message =
    'too many such requests are waiting already: nothing was written, send the request again later';
  return new PlantStoreError('overloaded', message);
}

/** Makes the functions of `Database` that run statements. */
export function createVerbs(pool: Pool): Pick<Database, 'read' | 'write'> {
  const runOnce = (text: string, values: Parameters<Run>[1], options: RunOptions) => {
    const rows = pool.run(text, values, options).catch((error: unknown) => {
      throw hasInvalidText(error) && hasUnicode(values) ? invalidText('text', error) : error;
    });
    return orUnavailable(rows, options.advice);
  };
  const runTwice: typeof runOnce = (text, values, options) => {
    const call = { ...options, deadline: deadlineOf(options) };
    return runOnce(text, values, call).catch((error) => {
      if (!isLostConnection(error)) throw error;
      return runOnce(text, values, call);
    });
  };
  // The casts give the rows the columns that the caller's text selects.
  return { read: runTwice as Run, write: runOnce as Run };
}

/** Whether a parameter has a character that some encodings lack. All encodings of Postgres have ASCII. */
function hasUnicode(values: Parameters<Run>[1]): boolean {
  return typeof values !== 'function' && values.some((value) => /\P{ASCII}/u.test(value ?? ''));
}
