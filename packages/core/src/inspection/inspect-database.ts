import { type Query, send } from '../database/query.ts';
import { type DatabaseOptions, useDatabase } from '../open-database.ts';
import type { UnreachableHost } from '../postgres/use-postgres.ts';
import {
  missingGrants,
  readPrivileges,
  serverNeeds,
  type TablePrivileges,
} from '../tables/privileges.ts';
import { readSchemaVersion, type SchemaVersion } from '../tables/schema-version.ts';
import { checkTables, type TableFault } from '../tables/table-check.ts';
import { type FailingWebhook, readFailingWebhooks } from './failing-webhooks.ts';
import { type FeedState, lookAgain, readFeedState } from './feed-state.ts';
import type { Hazard } from './hazard.ts';
import { readHazards } from './hazards.ts';
import { type LateCommit, selectLateCommits } from './late-commits.ts';
import { type Lock, selectLocks } from './locks.ts';
import { tryWrites } from './write-trial.ts';

/** The properties of a database that one statement reads. */
interface ServerFacts {
  readonly version: string;
  readonly encoding: string;
  /** Whether the database is a replica of another database, which accepts writes. */
  readonly isReplica: boolean;
  readonly isReadOnly: boolean;
  /** `on` or `off`. */
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  /** The size of the database in bytes. */
  readonly bytes: number;
}

/** The properties of a database that concern the store. */
export interface DatabaseState extends SchemaVersion, ServerFacts {
  /** The milliseconds by which the database's clock is ahead of this machine's clock. */
  readonly clockAhead: number;
  /** The faults of the tables. A missing migration may cause these faults. */
  readonly tableFaults: readonly TableFault[];
  /** The privileges of the database's user on the existing tables. */
  readonly privileges: readonly TablePrivileges[];
  /** The state of the feed of changes. Undefined on a read replica. */
  readonly feed: FeedState | undefined;
  /** The webhooks whose endpoints do not accept the changes. */
  readonly webhooks: readonly FailingWebhook[];
  /** The sessions whose locks delay statements of the store. */
  readonly locks: readonly Lock[];
  readonly lateCommits: readonly LateCommit[];
  /** Further states of the database that harm clients, or may harm them. */
  readonly hazards: readonly Hazard[];
  /** The unreachable hosts of the URL, if at least one host is reachable. */
  readonly unreachableHosts: readonly UnreachableHost[];
  /**
   * The fault of the pooler in front of the database. Undefined if there is no pooler, or if the pooler has
   * no fault.
   */
  readonly poolerWarning: string | undefined;
}

/**
 * Reads the state of a database, and changes nothing in the database. This function needs no privilege on the
 * tables, and the Postgres may be a read replica.
 *
 * @param options if `trial` is true and the age of the oldest transaction is unknown, reads the transaction
 *   again after a pause. If `trial` is true and a write can succeed, creates and deletes some plants, and
 *   rolls these writes back.
 * @returns undefined when the data directory has no database yet.
 * @throws DataDirectoryError when the directory cannot be used.
 * @throws DatabaseSettingsError when the URL cannot be parsed.
 * @throws PlantStoreError `databaseUnavailable` when no Postgres responds within 3 s.
 */
export function inspectDatabase({
  trial = false,
  ...options
}: DatabaseOptions & { trial?: boolean }): Promise<DatabaseState | undefined> {
  return useDatabase(options, async (connection, unreachableHosts = [], poolerWarning) => {
    const facts = await readFacts(connection.query);
    const state = { ...facts, unreachableHosts, poolerWarning };
    if (!trial) return state;
    const hazards = canWrite(state) ? [await tryWrites(connection)] : [];
    const feed = state.feed && (await lookAgain(connection.query, state.feed));
    return { ...state, feed, hazards: [...state.hazards, ...hazards] };
  });
}

/** Whether a write can succeed, judged by the other findings of `doctor`. */
function canWrite(state: DatabaseState): boolean {
  const { isReadOnly, isKnown, missingMigrations, tableFaults, privileges, locks, feed } = state;
  const faults = [...tableFaults, ...missingGrants(privileges, serverNeeds), ...locks];
  const isMigrated = !isKnown || missingMigrations === 0;
  return !isReadOnly && isMigrated && faults.length === 0 && feed !== undefined;
}

async function readFacts(
  query: Query,
): Promise<Omit<DatabaseState, 'unreachableHosts' | 'poolerWarning'>> {
  const sentAt = Date.now();
  // The cast is safe, because the statement returns exactly one row.
  const [row] = (await send(query, selectFacts)) as [ServerFacts & { epoch: number }];
  const now = (sentAt + Date.now()) / 2;
  const { epoch, ...facts } = row;
  return {
    ...facts,
    clockAhead: Math.round(epoch * 1000 - now),
    ...(await readSchemaVersion(query)),
    tableFaults: await checkTables(query),
    privileges: await readPrivileges(query),
    feed: await readFeedState(query),
    webhooks: await readFailingWebhooks(query),
    locks: await send(query, selectLocks),
    lateCommits: await send(query, selectLateCommits),
    hazards: await readHazards(query),
  };
}

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
