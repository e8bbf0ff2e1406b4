import type { Deadline } from './deadline.ts';
import type { Query } from './query.ts';
import type { Share, Verbs } from './verbs.ts';

/** An embedded Postgres or a Postgres server, as the rest of core uses it. */
export interface Database extends Verbs {
  /** The maximum number of statements of each kind that run at the same time. */
  readonly shares: Readonly<Record<'creates' | 'lookUps' | 'lists', number>>;
  /**
   * Whether all running statements of a kind are committing. A statement with an unknown state counts as
   * committing.
   */
  mayCommit(share: Share): Promise<boolean>;
  /** The states of the database's connection pools. */
  pools(): PoolState[];
  /** Adds a listener, for the case that the clocks of the database and this machine move apart. */
  onClockMoved(listener: (error: Error) => void): void;
  /** Adds a listener for messages to the operator. */
  onWarning(listener: (message: string) => void): void;
  /** Connects to the nodes of a cluster. Undefined when the database cannot be a part of a cluster. */
  readonly nodes?: NodeConnections | undefined;
  /** A text that distinguishes copies of the same database. */
  readonly copyId?: string;
  /**
   * Draws a new epoch of the feed after a restore or a promotion. Undefined for a read-only database, and for
   * one that nobody can replace while the database is open.
   */
  readonly renewFeed?: (() => Promise<void>) | undefined;
  /**
   * Copies rows in COPY's text format into these columns of `plants`. Commits all rows, or no row. Returns
   * the number of inserted rows, because a trigger may remove some rows.
   */
  copyPlants(rows: Uint8Array, columns: string): Promise<number>;
  /** Opens a read-only session for copies. Other statements do not wait while the session reads rows. */
  openCopies(): Promise<CopySession>;
  close(): Promise<void>;
}

/** The connections of a pool, and the statements that wait for a connection. */
export interface PoolState {
  /** `requests`, `bulk`, or the address of a cluster's node. */
  readonly name: string;
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
  /** The number of writes that are still committing after their callers got an error. */
  readonly unsettled: number;
  /** Milliseconds by which the database's clock is ahead of this machine's clock. 0 without a connection. */
  readonly clockAhead: number;
}

/** The warning for a write that is still in its commit a second after its deadline. */
export const lateCommit =
  'a commit is not durable a second after its requests got error 50300: the disk of the database or its ' +
  'standby is slow. The commit may still succeed';

/** The options to open a database. */
export interface OpenOptions {
  /**
   * Only read. The Postgres may be a read replica, and the user needs only the privilege to read. A data
   * directory must already contain a database.
   */
  readonly readOnly?: boolean;
  /** With `readOnly`, requires the primary, because only the primary has the feed of changes. */
  readonly onPrimary?: boolean;
  /** Throw `databaseUnavailable` if the Postgres is unreachable. Default: wait in the background. */
  readonly requireConnection?: boolean;
  /** Whether to create a missing database in a data directory. Default: true, or false with `readOnly`. */
  readonly create?: boolean;
}

/** A connection to a database. After its end, a connection never reconnects. */
export interface DatabaseConnection {
  /** False when the connection is known to be lost. */
  readonly isOpen: boolean;
  /** The address of the server, if it has a port. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
  /** Only one statement may run at a time. */
  readonly query: Query;
  /** Formats a deadline for Postgres, by the database's clock. */
  timeOf(deadline: Deadline): string;
  /** Cancels the running statement. The promise is never rejected. */
  cancel(): Promise<void>;
  /**
   * Whether the running statement is committing. A commit waits for the disk or the standby and cannot be
   * cancelled. Resolves with undefined when the state is unknown.
   *
   * @param other a second connection to the same server, for the question about the first connection
   */
  isCommitting(other: DatabaseConnection): Promise<boolean | undefined>;
  /** Closes the connection, and ends the running statement. The promise is never rejected. */
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
  /** This function is called when the plants are found to be distributed over the cluster. */
  readonly noticeCluster: () => void;
}

/** The parts of sessions, migrations and copies that are different on a cluster. */
export interface ClusterSessions {
  /** Settings of each session. Another server ignores them. */
  readonly settings: Readonly<Record<string, string>>;
  /** This function is called before a migration. Throws when another node must migrate the tables. */
  checkMigration(query: Query): Promise<void>;
  /** Copies plants as `Database` does, and reports errors as a single server would. */
  copyPlants(
    database: Pick<Database, 'copyPlants' | 'write'>,
    ...rows: Parameters<Database['copyPlants']>
  ): Promise<number>;
}

/** A session that copies rows out of a database. */
export interface CopySession {
  /**
   * Copies the rows of a query in one snapshot. Yields blocks in a format of COPY. In the format `text`, a
   * block contains only whole lines. Times are in UTC. Only one copy may run at a time.
   */
  copyOut(select: string, format: 'csv' | 'text'): AsyncGenerator<Uint8Array>;
  /** Ends the session and its running COPY statement. The promise is never rejected. */
  close(): Promise<void>;
}
