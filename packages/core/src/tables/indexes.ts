import { setTimeout } from 'node:timers/promises';
import { type Query, send } from '../database/query.ts';
import { databaseCode } from '../error-causes.ts';

/**
 * The maximum time to wait for a lock, in milliseconds. A statement that waits for a lock of a table blocks
 * all later statements on the table.
 */
export const lockTimeout = 4_500;

/** The index on `plants` that the feed of changes needs. */
export const feedIndex = 'plants_changed_in';

/** The definitions of the indexes that were added to `plants` after the table was created. */
export const indexes = {
  plants_tag: '(hashtextextended(tag, 0), id) where tag is not null',
  [feedIndex]: '(changed_in, id) where changed_in is not null',
};

/** The statement that adds the column of an index. The column is empty, so no row is rewritten. */
const columns: Partial<Record<IndexName, string>> = {
  [feedIndex]: 'alter table plants add column if not exists changed_in xid8',
};

/** The interval at which an instance checks the build of another instance, in milliseconds. */
const pollInterval = 500;

/**
 * Builds the missing indexes of the table. The build runs `CONCURRENTLY`, outside of a transaction. In the
 * transaction of the migration, a build would block all creates until the transaction ends.
 */
export async function buildIndexes(query: Query): Promise<void> {
  for (const name of Object.keys(indexes) as IndexName[]) {
    // The cast is safe, because the keys of `indexes` are the index names.
    for (;;) {
      const [state] = await send<IndexState>(query, indexState(name));
      // While another instance builds the index, this instance waits. Otherwise, a migration would request
      // the lock of the table, wait for the build, and block all creates until the build ends.
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
    // An interrupted build leaves an invalid index.
    if (state.is_valid === false) await send(query, `drop index concurrently if exists ${name}`);
    await send(query, `create index concurrently if not exists ${name} on plants ${indexes[name]}`);
  }

  /** Two builds that begin at the same time wait for each other. The database then cancels one build. */
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
  /** Null when the index does not exist. */
  is_valid: boolean | null;
  is_building: boolean;
}

const indexState = (name: string) => `
  select to_regclass('plants') is not null as has_table,
    (select indisvalid from pg_index where indexrelid = to_regclass('${name}')) as is_valid,
    exists (select from pg_stat_progress_create_index
        where datname = current_database() and relid = to_regclass('plants'))
      or exists (select from pg_stat_activity
        where datname = current_database() and state = 'active'
          and query ~ '^(create|drop) index concurrently if .*${name}')
      as is_building`;
