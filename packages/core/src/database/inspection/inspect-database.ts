import { type DatabaseOptions, useDatabase } from '../open-database.ts';
import type { UnreachableHost } from '../postgres/use-postgres.ts';
import { type RunText, readSchemaVersion, type SchemaVersion } from '../schema-version.ts';
import { type FeedState, readFeedState } from './feed-state.ts';
import { type LateCommit, readLateCommits } from './late-commits.ts';
import { type Lock, readLocks } from './locks.ts';
import { readPrivileges, type TablePrivileges } from './privileges.ts';
import { checkTables, type TableFault } from './table-check.ts';
import { readTableDistributions, type TableDistribution } from './table-distribution.ts';

/** The properties of a database that matter to the store. */
export interface DatabaseState extends SchemaVersion {
  readonly version: string;
  readonly encoding: string;
  /** Whether the database replicates another one, which accepts writes. */
  readonly isReplica: boolean;
  readonly isReadOnly: boolean;
  /** The durability settings: `on` or `off`, and more values for `synchronous_commit`. */
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  /** Milliseconds by which the database's clock is ahead of this machine's. */
  readonly clockAhead: number;
  /** The size of the database in bytes. */
  readonly bytes: number;
  /** What is wrong with the tables. A missing migration may be the cause. */
  readonly tableFaults: readonly TableFault[];
  /** What its user may do with the existing tables. */
  readonly privileges: readonly TablePrivileges[];
  /** The feed of changes; undefined on a cluster and on a read replica, which have none. */
  readonly feed: FeedState | undefined;
  /** The sessions whose locks make statements of the store wait. */
  readonly locks: readonly Lock[];
  readonly lateCommits: readonly LateCommit[];
  /** How Citus distributes the tables; undefined without Citus. */
  readonly distribution: readonly TableDistribution[] | undefined;
  /** The hosts of the URL that cannot be reached, although another one can. */
  readonly unreachableHosts: readonly UnreachableHost[];
  /** What is wrong with the pooler in front of the database; undefined when nothing is wrong or there is no pooler. */
  readonly poolerWarning: string | undefined;
}

/**
 * Reads the state of a database and changes nothing in it. It needs no privilege on the tables, and the
 * Postgres may be a read replica.
 *
 * @returns undefined when the data directory has no database yet
 * @throws DataDirectoryError when the directory cannot be used, DatabaseSettingsError when the URL
 *   cannot be parsed, PlantStoreError `databaseUnavailable` when no Postgres responds within 5 s
 */
export function inspectDatabase(options: DatabaseOptions): Promise<DatabaseState | undefined> {
  return useDatabase(options, inspect);
}

async function inspect(
  run: RunText,
  unreachableHosts: UnreachableHost[] = [],
  poolerWarning?: string,
): Promise<DatabaseState> {
  const sentAt = Date.now();
  const [row] = (await run(selectFacts)) as [Facts]; // The statement returns one row with these columns.
  const now = (sentAt + Date.now()) / 2;
  const { epoch, ...facts } = row;
  return {
    ...facts,
    clockAhead: Math.round(epoch * 1000 - now),
    ...(await readSchemaVersion(run)),
    tableFaults: await checkTables(run),
    privileges: await readPrivileges(run),
    feed: await readFeedState(run),
    locks: await readLocks(run),
    lateCommits: await readLateCommits(run),
    distribution: await readTableDistributions(run),
    unreachableHosts,
    poolerWarning,
  };
}

type Facts = Pick<
  DatabaseState,
  | 'version'
  | 'encoding'
  | 'isReplica'
  | 'isReadOnly'
  | 'fsync'
  | 'fullPageWrites'
  | 'synchronousCommit'
  | 'bytes'
> & { epoch: number };

const selectFacts = `
  select current_setting('server_version') as version,
    current_setting('server_encoding') as encoding,
    pg_is_in_recovery() as "isReplica",
    current_setting('transaction_read_only')::bool as "isReadOnly",
    current_setting('fsync') as fsync,
    current_setting('full_page_writes') as "fullPageWrites",
    current_setting('synchronous_commit') as "synchronousCommit",
    pg_database_size(current_database())::float8 as bytes,
    extract(epoch from clock_timestamp())::float8 as epoch`;
