import { setTimeout } from 'node:timers/promises';
import type { Connection } from '../connection.ts';

/** Milliseconds between two checks whether another instance still builds the index. */
const pollInterval = 500;

/**
 * Builds the index on tags when the table exists without it. It runs `CONCURRENTLY`, outside of a
 * transaction. The migration's transaction would block every create until the index is built.
 */
export async function buildTagIndex(connection: Connection): Promise<void> {
  const run = async (text: string) => (await connection.query(text, [], 'objects')).rows;

  const read = async () => ((await run(indexState)) as [IndexState])[0]; // The statement returns one row with these columns.
  let state = await read();
  // The migration must not begin yet: its lock would wait for the build, and every create for that lock.
  while (state.is_building) {
    await setTimeout(pollInterval);
    state = await read();
  }
  if (!state.has_table || state.is_valid) return;
  // An index is invalid when its build was interrupted. On a Citus cluster, some shards may lack it, so the
  // statement has `if exists`, which Citus passes on to each shard.
  if (state.is_valid === false) await run('drop index concurrently if exists plants_tag');
  await run(
    'create index concurrently if not exists plants_tag ' +
      'on plants (hashtextextended(tag, 0), id) where tag is not null',
  );
}

interface IndexState {
  has_table: boolean;
  /** Null when there is no index. */
  is_valid: boolean | null;
  /** Whether another instance builds it now. */
  is_building: boolean;
}

// On a Citus cluster, only the nodes of the shards report the progress of a build. So this looks for the
// statement itself on the coordinator, where all instances migrate.
const indexState = `
  select to_regclass('plants') is not null as has_table,
    (select indisvalid from pg_index where indexrelid = to_regclass('plants_tag')) as is_valid,
    exists (select from pg_stat_progress_create_index
        where datname = current_database() and relid = to_regclass('plants'))
      or exists (select from pg_stat_activity
        where datname = current_database() and state = 'active'
          and query ~ '^(create|drop) index concurrently if .*plants_tag')
      as is_building`;
