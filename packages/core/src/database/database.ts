import { resolve } from 'node:path';
import type { Caller, CallOptions } from './deadline.ts';
import { DataDirectoryError } from './errors.ts';

/** The location of a database: the URL of a Postgres, or the directory of an embedded database. */
export type DatabaseOptions = { databaseUrl: string } | { dataDirectory: string };

export interface OpenOptions {
  /** Whether opening the store throws `databaseUnavailable` when the Postgres is down. Default: false. */
  readonly requireConnection?: boolean;
}

/** Opens and migrates a database. Loads only the driver that the database needs. */
export async function openDatabase(
  options: DatabaseOptions,
  openOptions: OpenOptions = {},
): Promise<Database> {
  if ('databaseUrl' in options) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(options.databaseUrl, openOptions);
  }
  const { openEmbedded } = await import('./embedded/embedded.ts');
  return openEmbedded(checkDirectory(options.dataDirectory));
}

function checkDirectory(given: unknown): string {
  if (typeof given !== 'string' || given === '') {
    throw new DataDirectoryError('pass a databaseUrl, or the path of a dataDirectory');
  }
  // A relative path would mean another directory after the program changes its working directory.
  return resolve(given);
}

/** A Postgres server, or a Postgres that is embedded in this process. */
export interface Database {
  /** Runs a statement that changes nothing. Repeats the statement once if its connection is lost. */
  readonly read: Run;
  /** Runs a statement that writes. Never sends the statement twice. */
  readonly write: Run;
  /** The maximum number of statements of each kind that run at the same time. */
  readonly connections: Readonly<Record<Kind, number>>;
  /** The state of the connections, for metrics. */
  pool(): PoolState;
  close(): Promise<void>;
}

/**
 * The kinds of statements. Each kind has its own queue. On a Postgres server, each kind has its own connections,
 * so that one kind does not delay the other kinds:
 *
 * - `creates`: inserts of plants, and look-ups of plants with the same ids
 * - `edits`: deletes and replacements of plants, writes of access tokens, and forgetting deletions
 * - `reads`: gets and pages of plants, reads of access tokens, statements on webhooks, and the feed's end and tail
 * - `counts`, `searches`, `changes`: counts, searches, and reads of changes for one client, which may take long
 */
export type Kind = 'creates' | 'edits' | 'reads' | 'counts' | 'searches' | 'changes';

/**
 * Runs a statement. `Row` is the type of the columns that the text selects.
 *
 * @param values the values of the parameters, or a function that returns them. The function gets the deadline
 *   as a time on the database's clock. A write of plants passes this time to the database, so that a late write
 *   changes nothing.
 * @throws PlantStoreError `overloaded` when too many statements of this kind wait, or `shuttingDown` after `close`.
 * @throws PlantStoreError `invalidInput` when the database's encoding lacks a character of `values`.
 * @throws PlantStoreError `databaseUnavailable` or `plantRejected` with the original error as its cause.
 */
export type Run = <Row extends readonly unknown[] = unknown[]>(
  text: string,
  values: Values | ((deadline: string) => Values),
  options: RunOptions,
) => Promise<Rows<Row>>;

/** The values of a statement's parameters. */
export type Values = readonly (string | null)[];

/** Each row is an array of its columns. */
export type Rows<Row = unknown[]> = { readonly rows: Row[] };

export interface RunOptions extends CallOptions {
  readonly kind: Kind;
  /**
   * The calls that share the statement, if a batcher sends it. The batcher rejects each call at its deadline, so
   * the promise of this statement settles when the statement has ended. Without `sharedBy`, the promise
   * settles at the deadline at the latest.
   */
  readonly sharedBy?: readonly { readonly caller: Caller | undefined }[];
}

export interface PoolState {
  /** The number of statements that wait for a connection. */
  readonly waiting: number;
  /** The number of statements that run although their deadline has passed. */
  readonly overdue: number;
  /** How far the database's clock is ahead of this machine's clock, in ms. 0 without an idle connection. */
  readonly clockAhead: number;
}

/** Runs a statement in a session outside of the pool. Returns the rows as objects. */
export type Query = <Row extends object>(text: string, values?: Values) => Promise<Row[]>;
