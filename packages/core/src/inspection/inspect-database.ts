import type { Query } from '../database/database.ts';
import { missingColumns } from '../database/migration.ts';
import { type DatabaseOptions, useDatabase } from '../database/open-database.ts';
import { readPrivileges, type TablePrivileges } from '../tables/privileges.ts';
import { checkTables, type TableFault } from '../tables/table-check.ts';
import { type FailingWebhook, readFailingWebhooks } from './failing-webhooks.ts';
import { type FeedState, lookAgain, readFeedState } from './feed-state.ts';
import { type Lock, selectLocks } from './locks.ts';

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
export interface DatabaseState extends ServerFacts {
  /** The number of columns that the store needs and the database lacks. */
  readonly missingMigrations: number;
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
}

/**
 * Reads the state of a database, and changes nothing in the database. This function needs no privilege on the
 * tables, and the Postgres may be a read replica.
 *
 * @param options if `trial` is true and the age of the oldest transaction is unknown, reads the transaction
 *   again after a pause.
 * @returns undefined when the data directory has no database yet.
 * @throws DataDirectoryError when the directory cannot be used.
 * @throws DatabaseSettingsError when the URL cannot be parsed.
 * @throws PlantStoreError `databaseUnavailable` when no Postgres responds within 3 s.
 */
export function inspectDatabase({
  trial = false,
  ...options
}: DatabaseOptions & { trial?: boolean }): Promise<DatabaseState | undefined> {
  return useDatabase(options, async ({ query }) => {
    const state = await readFacts(query);
    if (!trial) return state;
    return { ...state, feed: state.feed && (await lookAgain(query, state.feed)) };
  });
}

async function readFacts(query: Query): Promise<DatabaseState> {
  const sentAt = Date.now();
  // The cast is safe, because the statement returns exactly one row.
  const [row] = (await query(selectFacts)) as [ServerFacts & { epoch: number }];
  const now = (sentAt + Date.now()) / 2;
  const { epoch, ...facts } = row;
  return {
    ...facts,
    clockAhead: Math.round(epoch * 1000 - now),
    missingMigrations: (await missingColumns(query)).length,
    tableFaults: await checkTables(query),
    privileges: await readPrivileges(query),
    feed: await readFeedState(query),
    webhooks: await readFailingWebhooks(query),
    locks: await query(selectLocks),
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
