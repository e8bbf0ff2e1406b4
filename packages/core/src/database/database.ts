import { fileURLToPath } from 'node:url';

/** A Postgres, embedded or on a server: what the rest of core needs of it. */
export interface Database {
  readonly db: Drizzle;
  /** Insert statements that may run at the same time. */
  readonly maxInFlight: number;
  readonly query: Query;
  /** Undefined on a database that is no part of a cluster. */
  readonly onNode?: ((node: StorageNode, clusterId: string) => NodeAccess) | undefined;
  /**
   * Access for requests that need every node of a cluster. They have connections of their own, so that
   * the other statements go on while a node is away. Undefined when the database is never a cluster.
   */
  readonly allNodes?: Pick<Database, 'db' | 'query'>;
  readonly bulk: Bulk;
  close(): Promise<void>;
}

/** How a database is used. */
export interface OpenOptions {
  /**
   * Only read. The Postgres may be a read replica, and its user needs no right but to read. A data
   * directory must have a database already.
   */
  readonly readOnly?: boolean;
  /**
   * Throw `databaseUnavailable` when the Postgres does not answer. By default it may become reachable
   * later.
   */
  readonly mustAnswer?: boolean;
  /** Whether a data directory without a database gets one. Default: unless `readOnly`. */
  readonly create?: boolean;
}

/** A node of a cluster that stores plants. */
export interface StorageNode {
  readonly id: number;
  /** Its host and port, as the cluster knows them. */
  readonly address: string;
  readonly shards: number;
  /** The part of all ids that it stores, from 0 to 1. */
  readonly share: number;
  /** An id that it stores. */
  readonly someId: bigint;
}

/**
 * Access for statements about the plants of one node of a cluster. They have connections of their own,
 * so that the other statements go on while that node is away.
 */
export interface NodeAccess extends Pick<Database, 'db' | 'query'> {
  /** Whether the connections lead to that node, not through another one. */
  readonly isDirect: boolean;
  /** Why the store could not reach that node itself; undefined when it can, or has not tried yet. */
  readonly directError: unknown;
}

/**
 * Runs a prepared statement. Returns its rows as arrays, as the driver reads them, and how many rows
 * it returned or changed. When the connection is lost, the statement may run a second time.
 */
export type Query = (
  statement: string,
  values: (string | null)[],
) => Promise<{ rows: unknown[]; count: number }>;

/**
 * Access for statements about many plants, which may be slow. On a server they have a connection of
 * their own, so that no request waits for them.
 */
export interface Bulk {
  readonly db: Drizzle;
  readonly query: Query;
  /** Loads rows in COPY's text format into these columns of `plants`: all in one commit, or none. */
  copyPlants(rows: Uint8Array, columns: string): Promise<void>;
  /** Opens a session that only reads. Other statements do not wait for its rows. */
  openCopies(): Promise<CopySession>;
}

/** A session that copies rows out of a database. */
export interface CopySession {
  /**
   * Copies the rows of a query: those of one snapshot, in a format of COPY, in blocks. In the format
   * `text`, a block has whole lines. Times are in UTC. Only one copy may run at a time.
   */
  copyOut(select: string, format: 'csv' | 'text'): AsyncGenerator<Uint8Array>;
  /** Ends the session, and a copy that still runs. The promise is never rejected. */
  close(): Promise<void>;
}

/** Drizzle without transactions, because each statement may run on another connection. */
// biome-ignore lint/suspicious/noEmptyInterface: drizzle-over.ts adds the methods.
export interface Drizzle {}

/** The folder of the generated SQL migrations; its path is the same from `src` and from `dist`. */
export const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url));
