import type { Deadline } from './deadline.ts';
import type { Query } from './query.ts';
import type { Share, Verbs } from './verbs.ts';

/** A Postgres, embedded or on a server, as the rest of core uses it. */
export interface Database extends Verbs {
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
  /**
   * Loads rows in COPY's text format into these columns of `plants`: all in one commit, or none. Returns the
   * number of inserted rows, because a trigger may drop some.
   */
  copyPlants(rows: Uint8Array, columns: string): Promise<number>;
  /** Opens a session that only reads. Other statements do not wait for its rows. */
  openCopies(): Promise<CopySession>;
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

/** A connection to a database. It never reconnects. */
export interface DatabaseConnection {
  /** False once the connection is known to be lost. */
  readonly isOpen: boolean;
  /** Only one statement may run at a time. */
  readonly query: Query;
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

/** The parts of sessions, migrations and copies that differ on a cluster. */
export interface ClusterSessions {
  /** Settings of each session. Another server ignores them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Is called before a migration. Throws when only another node may migrate the tables. */
  checkMigration(query: Query): Promise<void>;
  /** Copies plants as `Database` does, but with the errors that a single server would return. */
  copyPlants(
    database: Pick<Database, 'copyPlants' | 'write'>,
    ...rows: Parameters<Database['copyPlants']>
  ): Promise<number>;
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
