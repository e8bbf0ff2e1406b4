import { setTimeout } from 'node:timers/promises';
import { isOwn } from '../changes/epoch/epoch.ts';
import { holds, type Query } from '../database/database.ts';

/** The state of the feed of changes on the primary. */
export interface FeedState {
  /**
   * Whether clients can read new changes from the feed. Without SELECT on `plant_feed`, this property only
   * says whether the feed is switched on.
   */
  readonly isOn: boolean;
  /** Whether the database was restored or promoted, and the feed still has the old epoch. */
  readonly isRestored: boolean;
  /** Whether the index of the feed is usable. */
  readonly hasIndex: boolean;
  /**
   * The oldest writing transaction. Until this transaction ends, the feed hides the changes of all later
   * transactions.
   */
  readonly oldest: OldTransaction | undefined;
}

/** A transaction in any database of the server. */
export interface OldTransaction {
  /**
   * The transaction's number. One session has many transactions, so `pid` does not identify a transaction.
   */
  readonly transaction: string;
  /** The server's process id for the transaction's session. Null for a prepared transaction. */
  readonly pid: number | null;
  /** The identifier of a prepared transaction, as an SQL literal. Null for other transactions. */
  readonly prepared: string | null;
  readonly user: string;
  readonly database: string;
  readonly application: string;
  /** The session's state, such as `active` or `idle in transaction`. Null if the user may not see the state. */
  readonly state: string | null;
  /** The time at which the transaction began or was prepared (ISO 8601). */
  readonly since: string | null;
  /** Seconds since `since`. Null when this user may not see the time. */
  readonly age: number | null;
}

/**
 * Reads the state of the feed. Returns undefined when no feed can exist, or when a table of the feed is
 * missing.
 */
export async function readFeedState(query: Query): Promise<FeedState | undefined> {
  const [row] = await query<FeedRow>(selectFeed);
  if (!row?.hasFeed) return undefined;
  const { isSwitchedOn, isReadable, hasIndex } = row;
  const hasRow = async (condition: string) =>
    isReadable && (await holds(query, `exists (select from plant_feed where ${condition})`));
  const isRestored = await hasRow(`not ${isOwn}`);
  const isOn = isSwitchedOn && (!isReadable || (await hasRow(isOwn)));
  return { isOn, isRestored, hasIndex, oldest: await readOldest(query) };
}

/**
 * The milliseconds between two looks at the oldest transaction. A transaction that runs during the whole
 * pause is worth a warning.
 */
const pause = 2_000;

/**
 * Looks again at the oldest transaction if this user may not see its age. If the transaction has ended,
 * returns a state without the transaction.
 */
export async function lookAgain(query: Query, feed: FeedState): Promise<FeedState> {
  if (feed.oldest?.age !== null) return feed;
  await setTimeout(pause);
  const now = await readOldest(query);
  const isSame = now?.transaction === feed.oldest.transaction;
  return { ...feed, oldest: isSame ? now : undefined };
}

export async function readOldest(query: Query): Promise<OldTransaction | undefined> {
  const [oldest] = await query<OldTransaction>(selectOldest);
  return oldest;
}

interface FeedRow extends Pick<FeedState, 'hasIndex'> {
  hasFeed: boolean;
  /**
   * Whether new plants get a place in the feed. New plants get a place even if the database was restored from
   * the dump of another server.
   */
  isSwitchedOn: boolean;
  /** Whether a statement can read `plant_feed` without waiting for a lock. */
  isReadable: boolean;
}

const selectFeed = `
  select to_regclass('plant_feed') is not null and not pg_is_in_recovery() as "hasFeed",
    exists (select from pg_attribute where attrelid = to_regclass('plants')
      and attname = 'changed_in' and atthasdef) as "isSwitchedOn",
    has_table_privilege(to_regclass('plant_feed'), 'select') and not exists (select from pg_locks
      where relation = to_regclass('plant_feed') and mode = 'AccessExclusiveLock') as "isReadable",
    exists (select from pg_index
      where indexrelid = to_regclass('plants_changed_in') and indisvalid) as "hasIndex"`;

const columns = (since: string) => `
  pg_snapshot_xmin(pg_current_snapshot())::text as transaction,
  to_char(${since} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
  extract(epoch from clock_timestamp() - ${since})::float8 as age`;

const selectOldest = `
  select pid, null as prepared, coalesce(usename, '') as user, coalesce(datname, '') as database,
    coalesce(application_name, '') as application, state, ${columns('xact_start')}
  from pg_stat_activity
  where backend_xid = pg_snapshot_xmin(pg_current_snapshot())::xid and pid <> pg_backend_pid()
  union all
  select null, quote_literal(gid), owner, database, '', null, ${columns('prepared')}
  from pg_prepared_xacts
  where transaction = pg_snapshot_xmin(pg_current_snapshot())::xid`;
