import type { Deadline } from './deadline.ts';
import type { Query } from './query.ts';
import type { Share, Verbs } from './verbs.ts';

/** An embedded Postgres or a Postgres server. */
export interface Database extends Verbs {
  /** The maximum number of statements of each kind that run at the same time. */
  readonly shares: Readonly<Record<'creates' | 'lookUps' | 'lists', number>>;
  /** Whether each running statement of a kind is committing, or has an unknown state. */
  mayCommit(share: Share): Promise<boolean>;
  pools(): PoolState[];
  /** Adds a listener, which is called when the clocks of the database and this machine move apart. */
  onClockMoved(listener: (error: Error) => void): void;
  /** Adds a listener for messages to the operator. */
  onWarning(listener: (message: string) => void): void;
  /** A text that is different for each copy of a data directory. */
  readonly copyId?: string;
  /**
   * Draws a new epoch of the feed after a restore or a promotion. Undefined for a read-only database. Also
   * undefined for an embedded database, which nobody can restore while the database is open.
   */
  readonly renewFeed?: (() => Promise<void>) | undefined;
  close(): Promise<void>;
}

/** The connections of a pool, and the statements that wait for a connection. */
export interface PoolState {
  /** `requests` or `bulk`. */
  readonly name: string;
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
  /** The number of writes that are still committing after their callers got an error. */
  readonly unsettled: number;
  /** Milliseconds by which the database's clock is ahead of this machine's clock. 0 without a connection. */
  readonly clockAhead: number;
}

/** The warning for a write that is still committing a second after the write's deadline. */
export const lateCommit =
  'a commit is not durable a second after its requests got error 50300: the disk of the database or its ' +
  'standby is slow. The commit may still succeed';

export interface OpenOptions {
  /**
   * Whether the store only reads the database. The Postgres may then be a read replica, and the user needs
   * only the privilege to read. A data directory must already contain a database.
   */
  readonly readOnly?: boolean;
  /** Whether a read-only database must be the primary. Only the primary has the feed of changes. */
  readonly onPrimary?: boolean;
  /** Whether to throw `databaseUnavailable` when the Postgres is down. Default: the store waits. */
  readonly requireConnection?: boolean;
  /** Whether to create a missing database in a data directory. Default: true, or false with `readOnly`. */
  readonly create?: boolean;
}

/** A connection to a database. A closed or lost connection never connects again. */
export interface DatabaseConnection {
  /** False when the connection is known to be lost. */
  readonly isOpen: boolean;
  /** The address of the server, if it has a port. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
  /** Runs a statement. Only one statement may run at a time. */
  readonly query: Query;
  /** Formats a deadline as a time on the database's clock. */
  timeOf(deadline: Deadline): string;
  /** Cancels the running statement. The promise is never rejected. */
  cancel(): Promise<void>;
  /**
   * Whether the running statement is committing. A commit waits for the disk or the standby and cannot be
   * cancelled. Resolves with undefined when the state is unknown.
   *
   * @param other another connection to the same server, on which the store asks the server for the state
   */
  isCommitting(other: DatabaseConnection): Promise<boolean | undefined>;
  /** Closes the connection, and ends the running statement. The promise is never rejected. */
  close(): Promise<void>;
}
