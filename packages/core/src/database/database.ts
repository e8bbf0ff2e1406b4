import type { CallOptions, Deadline } from './deadline.ts';
import type { Advice } from './errors.ts';

/**
 * The kinds of statements. Each kind has its own connections and its own queue, so that one kind cannot stop
 * another:
 *
 * - `creates`: inserts of plants, and the look-ups that decide about them
 * - `deletes`: deletes and replacements
 * - `reads`: gets, pages of plants, access tokens, webhooks, and the end of the feed
 * - `counts`, `searches`, `changes`: counts, searches, and old pages of the feed. They may take long.
 */
export type Kind = 'creates' | 'deletes' | 'reads' | 'counts' | 'searches' | 'changes';

/** A Postgres server, or a Postgres that is embedded in this process. */
export interface Database {
  /** Runs a statement that changes nothing. Runs it again, once, when its connection is lost. */
  readonly read: Run;
  /** Runs a statement that writes. Never sends it twice. */
  readonly write: Run;
  /** The number of statements of each kind that run at the same time. */
  readonly connections: Readonly<Record<Kind, number>>;
  /** The connections and queues, for metrics. */
  pools(): PoolState[];
  close(): Promise<void>;
}

/** The values of a statement's parameters. */
export type Values = readonly (string | null)[];

export interface Rows<Row = unknown[]> {
  /** Each row is an array of its columns. */
  readonly rows: Row[];
  /** The number of rows that the statement returned or changed. */
  readonly count: number;
}

/**
 * Runs a prepared statement. `Row` names the columns that the text selects.
 *
 * @param values the values of the parameters, or a function that returns them. The function gets the deadline
 *   as a time on the database's clock. A write passes this time to the database, so that a late write changes
 *   nothing.
 * @throws PlantStoreError `overloaded` when too many statements of this kind wait, and nothing was sent.
 * @throws PlantStoreError `invalidInput` when the database's encoding lacks a character of `values`.
 * @throws PlantStoreError `databaseUnavailable` or `plantRejected` with the original error as its cause.
 */
export type Run = <Row extends readonly unknown[] = unknown[]>(
  text: string,
  values: Values | ((deadline: string) => Values),
  options: RunOptions,
) => Promise<Rows<Row>>;

export interface RunOptions extends CallOptions {
  readonly kind: Kind;
  /**
   * The time until which the caller waits. Default: the deadline. With `Infinity`, the promise settles when
   * the statement has ended, or when its connection was dropped.
   */
  readonly until?: Deadline | undefined;
  /** The advice for the client. An error of the statement contains this advice. */
  readonly advice?: Advice;
}

/** The connections of one kind, and the statements that wait for a connection. */
export interface PoolState {
  readonly name: Kind;
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
  /** The number of statements that run although their deadline has passed. */
  readonly overdue: number;
  /** Milliseconds by which the database's clock is ahead of this machine's clock. 0 without a connection. */
  readonly clockAhead: number;
}

export interface OpenOptions {
  /**
   * Whether the store only reads the database. The Postgres may then be a read replica, and the user needs
   * only the privilege to read. A data directory must already contain a database.
   */
  readonly readOnly?: boolean;
  /** Whether to throw `databaseUnavailable` when the Postgres is down. Default: the store waits. */
  readonly requireConnection?: boolean;
}

/** One session by itself, outside of the pool: for the migration and for `doctor`. */
export interface OwnSession {
  /** Runs one statement, and returns its rows as objects. */
  readonly query: Query;
  readonly isReadOnly: boolean;
}

/** Runs a statement in one session, and returns its rows as objects. */
export type Query = <Row extends object>(text: string, values?: Values) => Promise<Row[]>;
