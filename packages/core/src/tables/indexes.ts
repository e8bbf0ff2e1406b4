import { setTimeout } from 'node:timers/promises';
import { type Query, send } from '../database/query.ts';
import { databaseCode } from '../error-causes.ts';

/** Milliseconds to wait for a lock. A waiting statement blocks all later ones. */
export const lockTimeout = 4_500;

/** The index on `plants` that the feed of changes needs. */
export const feedIndex = 'plants_changed_in';

/** The indexes on `plants` that are younger than the table, each with its definition. */
export const indexes = {
  plants_tag: '(hashtextextended(tag, 0), id) where tag is not null',
  [feedIndex]: '(changed_in, id) where changed_in is not null',
};

/** Adds the column of an index. It stays empty, so this takes no time, but it waits for a lock. */
const columns: Partial<Record<IndexName, string>> = {
  [feedIndex]: 'alter table plants add column if not exists changed_in xid8',
};

/** Milliseconds between two checks whether another instance still builds an index. */
const pollInterval = 500;

/**
 * Builds the indexes that the table lacks. It runs `CONCURRENTLY`, outside of a transaction. The
 * migration's transaction would block every create until the index is built.
 */
export async function buildIndexes(query: Query): Promise<void> {
  for (const name of Object.keys(indexes) as IndexName[]) {
    // `indexes` has no other keys.
    for (;;) {
      const [state] = await send<IndexState>(query, indexState(name));
      // The migration must not begin yet. Its lock would wait for the build, and every create would wait for
      // that lock.
      if (state?.is_building) await setTimeout(pollInterval);
      else if (!state?.has_table) return;
      else if (state.is_valid) break;
      else await build(name, state).catch(rollBackDeadlock);
    }
  }

  async function build(name: IndexName, state: IndexState): Promise<void> {
    const addColumn = columns[name];
    if (addColumn) {
      await send(query, 'begin');
      await send(query, `set local lock_timeout = ${lockTimeout}`);
      await send(query, addColumn);
      await send(query, 'commit');
    }
    // An index is invalid when its build was interrupted. On a cluster, some shards may lack it, so
    // the statement has `if exists`, which the coordinator passes on to each shard.
    if (state.is_valid === false) await send(query, `drop index concurrently if exists ${name}`);
    await send(query, `create index concurrently if not exists ${name} on plants ${indexes[name]}`);
  }

  /** Two builds that begin at the same moment wait for each other. The database ends one of them. */
  async function rollBackDeadlock(error: unknown): Promise<void> {
    if (databaseCode(error) !== deadlock) throw error;
    await send(query, 'rollback');
  }
}

type IndexName = keyof typeof indexes;

/** The SQLSTATE of a statement that the database cancelled because of a deadlock. */
const deadlock = '40P01';

interface IndexState {
  has_table: boolean;
  /** Null when there is no index. */
  is_valid: boolean | null;
  /** Whether another instance builds it now. */
  is_building: boolean;
}

// On a cluster, only the nodes of the shards report the progress of a build. So this looks for the
// statement itself on the coordinator, where all instances migrate.
const indexState = (name: string) => `
  select to_regclass('plants') is not null as has_table,
    (select indisvalid from pg_index where indexrelid = to_regclass('${name}')) as is_valid,
    exists (select from pg_stat_progress_create_index
        where datname = current_database() and relid = to_regclass('plants'))
      or exists (select from pg_stat_activity
        where datname = current_database() and state = 'active'
          and query ~ '^(create|drop) index concurrently if .*${name}')
      as is_building`;
