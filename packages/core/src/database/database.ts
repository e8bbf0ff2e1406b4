import { fileURLToPath } from 'node:url';
import type { Caller, Deadline } from './deadline.ts';

/** A Postgres, embedded or on a server, as the rest of core uses it. */
export interface Database {
  /** Runs a statement of a request. */
  readonly run: Run;
  /** The number of insert statements that may run at the same time. */
  readonly maxInserts: number;
  /** The number of look-ups, of plants or of access tokens, that may run at the same time. */
  readonly maxLookUps: number;
  /**
   * Whether all running statements of a kind are in a commit. A statement of unknown state counts as in a
   * commit.
   */
  mayCommit(share: Share): Promise<boolean>;
  /** How many writes are still in a commit after their callers got an error. */
  unsettled(): number;
  /** Calls a function when the clocks of the database and of this machine have moved apart. */
  onClockMoved(listener: (error: Error) => void): void;
  /** Calls a function with a message for the operator. */
  onWarning(listener: (message: string) => void): void;
  /** Connects to the nodes of a cluster. Undefined when the database cannot be a part of a cluster. */
  readonly nodes?: NodeConnections | undefined;
  /** Distinguishes copies of a database that have the same identity inside the database. */
  readonly copyId?: string;
  /**
   * Draws a new epoch of the feed after a restore or a promotion. Undefined when nobody can replace the
   * database while it is open, or when it is only read.
   */
  readonly renewFeed?: (() => Promise<void>) | undefined;
  readonly bulk: Bulk;
  close(): Promise<void>;
}

/** The warning when a write is still in its commit a second after its deadline. */
export const lateCommit =
  'a commit is not durable a second after its requests got error 50300: the disk of the database or its ' +
  'standby is slow. The commit may still succeed';

/** The options to open a database. */
export interface OpenOptions {
  /**
   * Only read. The Postgres may be a read replica, and its user needs only the privilege to read. A data
   * directory must have a database already.
   */
  readonly readOnly?: boolean;
  /** With `readOnly`, the Postgres must be the primary: only that has the feed of changes. */
  readonly onPrimary?: boolean;
  /**
   * Throw `databaseUnavailable` when the Postgres is unreachable. By default, it may become reachable
   * later.
   */
  readonly requireConnection?: boolean;
  /** Whether a data directory without a database gets a new one. Default: true, or false with `readOnly`. */
  readonly create?: boolean;
}

/**
 * The kinds of statements. Each kind has its own connections, so that one kind cannot block another. Searches
 * use a connection for lists, one at a time, so that other lists need not wait for many searches.
 */
export type Share = 'creates' | 'deletes' | 'lookUps' | 'lists' | 'searches' | 'bulk';

export type Values = readonly (string | null)[];

export interface Rows {
  rows: unknown[];
  /** How many rows the statement returned or changed. */
  count: number;
}

export interface RunOptions {
  readonly share: Share;
  /** The time at which the statement is cancelled. */
  readonly deadline: Deadline;
  /** The time until which the caller waits for the outcome. Default: the deadline. */
  readonly until?: Deadline | undefined;
  /** When the caller disconnects, a statement that still waits for a connection is dropped. */
  readonly caller?: Caller | undefined;
  /** Is called before the statement is sent. When it throws, the statement is not sent. */
  readonly onTurn?: (() => void) | undefined;
  /** Whether the statement may run again after its connection was lost. Do not set it for a write. */
  readonly isRepeatable?: boolean;
  /** Default: arrays whose values are as the driver reads them. */
  readonly rowsAs?: 'arrays' | 'objects';
}

/**
 * Runs a prepared statement.
 *
 * @param values the values of the statement's parameters, or a function that makes them. The function gets
 *   the deadline by the database's clock. A write passes this deadline to the database, and changes nothing
 *   when it is late.
 * @throws PlantStoreError `overloaded` when too many statements of its kind wait; an error of the
 *   connection or the database
 */
export type Run = (
  text: string,
  values: Values | ((deadline: string) => Values),
  options: RunOptions,
) => Promise<Rows>;

/** A connection to a database. It never reconnects. */
export interface DatabaseConnection {
  /** False once the connection is known to be lost. */
  readonly isOpen: boolean;
  /** Runs a statement. Only one may run at a time. */
  query(text: string, values?: Values, rowsAs?: 'arrays' | 'objects'): Promise<Rows>;
  /** A deadline by the database's clock, as text for Postgres. */
  timeOf(deadline: Deadline): string;
  /** Cancels the statement that runs. The promise is never rejected. */
  cancel(): Promise<void>;
  /**
   * Whether the connection's statement waits for the disk or the standby in a commit, which cannot be
   * cancelled. Resolves with undefined when this is unknown.
   *
   * @param other a second connection to the same server, which asks the server
   */
  isCommitting(other: DatabaseConnection): Promise<boolean | undefined>;
  /** Closes the connection, and ends its statement. The promise is never rejected. */
  close(): Promise<void>;
}

/** Connects to an address within the given milliseconds. */
export type ConnectTo = (
  host: string,
  port: number,
  timeout: number,
) => Promise<DatabaseConnection>;

/** Connections to the nodes of a cluster. */
export interface NodeConnections {
  /** Connects to the node that the URL names. */
  readonly connect: () => Promise<DatabaseConnection>;
  /** Connects to another node of the cluster. */
  readonly connectTo: ConnectTo;
  /** Is called when plants turn out to be distributed over the cluster. */
  readonly noticeCluster: () => void;
}

/** The parts of sessions, migrations and bulk statements that differ on a cluster. */
export interface ClusterSessions {
  /** Settings of each session. Another server ignores them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Is called before a migration. Throws when only another node may migrate the tables. */
  checkMigration(run: (text: string) => Promise<unknown[]>): Promise<void>;
  /** Returns the same access, but with the errors that a single server would return. */
  bulk(bulk: Bulk): Bulk;
}

/**
 * Access for statements about many plants, which may be slow. On a server they have a connection of
 * their own, so that no request waits for them.
 */
export interface Bulk {
  /** Runs a statement. It ignores the share and the deadline of the options. */
  readonly run: Run;
  /**
   * Loads rows in COPY's text format into these columns of `plants`: all in one commit, or none. Returns the
   * number of inserted rows, because a trigger may drop some.
   */
  copyPlants(rows: Uint8Array, columns: string): Promise<number>;
  /** Opens a session that only reads. Other statements do not wait for its rows. */
  openCopies(): Promise<CopySession>;
}

/** A session that copies rows out of a database. */
export interface CopySession {
  /**
   * Copies the rows of a query in one snapshot. Yields blocks in a format of COPY; in the format `text`,
   * a block has whole lines. Times are in UTC. Only one copy may run at a time.
   */
  copyOut(select: string, format: 'csv' | 'text'): AsyncGenerator<Uint8Array>;
  /** Ends the session, and a copy that still runs. The promise is never rejected. */
  close(): Promise<void>;
}

/** The folder of the generated SQL migrations; its path is the same from `src` and from `dist`. */
export const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url));
