import { setTimeout } from 'node:timers/promises';
import { type Query, send } from '../../database/query.ts';
import { databaseCode } from '../../error-causes.ts';

/** The index on `plants` that the feed of changes needs. */
export const feedIndex = 'plants_changed_in';

/** The time between two checks whether another instance is still building the index, in milliseconds. */
const pollInterval = 500;

/**
 * Builds the index of the feed if the index is missing or invalid. The build runs `CONCURRENTLY`, outside of
 * a transaction. Inside a transaction, a build would block all creates until its end.
 */
export async function buildFeedIndex(query: Query): Promise<void> {
  for (;;) {
    const [state] = await send<IndexState>(query, selectState);
    if (state?.is_building) await setTimeout(pollInterval);
    else if (state?.is_valid) return;
    else await build(query, state).catch(ignoreDeadlock);
  }
}

/** Two builds that begin at the same time wait for each other. The database then cancels one build. */
function ignoreDeadlock(error: unknown): void {
  if (databaseCode(error) !== deadlock) throw error;
}

async function build(query: Query, state: IndexState | undefined): Promise<void> {
  // An interrupted build leaves an invalid index.
  if (state?.is_valid === false)
    await send(query, `drop index concurrently if exists ${feedIndex}`);
  await send(
    query,
    `create index concurrently if not exists ${feedIndex} on plants (changed_in, id)
      where changed_in is not null`,
  );
}

/** The SQLSTATE of a statement that the database cancelled because of a deadlock. */
const deadlock = '40P01';

interface IndexState {
  /** Null when the index does not exist. */
  is_valid: boolean | null;
  /** Whether another instance is building an index of the table. */
  is_building: boolean;
}

const selectState = `
  select (select indisvalid from pg_index where indexrelid = to_regclass('${feedIndex}')) as is_valid,
    exists (
      select from pg_stat_progress_create_index
      where datname = current_database() and relid = to_regclass('plants')) as is_building`;
