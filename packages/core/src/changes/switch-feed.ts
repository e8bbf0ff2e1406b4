import { orUnavailable } from '../database/database-error.ts';
import { deadlineIn } from '../database/deadline.ts';
import { type DatabaseOptions, openDatabase } from '../database/open-database.ts';
import { buildIndexes, feedIndex } from '../database/postgres/migration/indexes.ts';
import { lockTimeout, migrationTimeout } from '../database/postgres/migration/migration.ts';
import type { RunText } from '../database/schema-version.ts';
import { isCluster, noFeedOnCluster, ownFeed } from './read-changes.ts';

/**
 * Switches the feed of changes on or off for all instances. Creates and deletes wait for a moment only. When
 * it fails, call it again. Cursors from before it was switched on give `cursorExpired`.
 *
 * @returns whether it was the other way before
 * @throws PlantStoreError `notImplemented` on a Citus cluster; `databaseUnavailable`, also on a read replica
 *   and for a user who does not own the tables; DataDirectoryError when the data directory has no store or
 *   cannot be used; DatabaseSettingsError when the URL cannot be parsed
 */
export function switchFeed(options: DatabaseOptions, to: 'on' | 'off'): Promise<boolean> {
  const switched = useDatabaseFor(options, async (run) => {
    const [state] = (await run(selectState)) as [State]; // The statement returns one row.
    if (state.is_cluster) throw noFeedOnCluster();
    await (to === 'on' ? switchOn(run, state) : switchOff(run));
    return state.is_on !== (to === 'on');
  });
  return orUnavailable(switched);
}

interface State {
  is_cluster: boolean;
  is_on: boolean;
}

const selectState = `
  select ${isCluster} as is_cluster, exists (select from ${ownFeed}) as is_on`;

async function switchOn(run: RunText, { is_on: isOn }: State): Promise<void> {
  if (!isOn) {
    // A column that is new and empty needs no rewrite of the table, and only a small index.
    await transaction(run, [
      'alter table plants drop column if exists changed_in, add column changed_in xid8',
      ...forget,
    ]);
  }
  await buildIndexes(run, lockTimeout);
  // This waits for all writes that have begun. The later ones have their place in the feed.
  await transaction(run, [
    'alter table plants alter column changed_in set default pg_current_xact_id()',
    'insert into plant_feed (epoch) select gen_random_uuid() where not exists (select from plant_feed)',
  ]);
}

async function switchOff(run: RunText): Promise<void> {
  await transaction(run, ['alter table plants alter column changed_in drop default', ...forget]);
  await run(`drop index concurrently if exists ${feedIndex}`);
}

/** These statements follow one that locks `plants`, so that no delete can note its plants meanwhile. */
const forget = ['delete from plant_feed', 'truncate plant_deletions'];

async function transaction(run: RunText, statements: readonly string[]): Promise<void> {
  await run('begin');
  await run(`set local lock_timeout = ${lockTimeout}`);
  for (const statement of statements) await run(statement);
  await run('commit');
}

/** Uses a database for statements that may take long. An open transaction is undone at the end. */
async function useDatabaseFor<T>(
  options: DatabaseOptions,
  use: (run: RunText) => Promise<T>,
): Promise<T> {
  if ('databaseUrl' in options) {
    const { createConnectToPrimary } = await import('../database/postgres/connect-to-primary.ts');
    const limits = { timeout: migrationTimeout, lockTimeout: migrationTimeout };
    const connection = await createConnectToPrimary(options.databaseUrl, limits)();
    const run: RunText = async (text) => (await connection.query(text, [], 'objects')).rows;
    return use(run).finally(() => connection.close());
  }
  const { bulk, close } = await openDatabase(options, { create: false });
  const bulkUse = {
    share: 'bulk',
    deadline: deadlineIn(migrationTimeout),
    rowsAs: 'objects',
  } as const;
  return use(async (text) => (await bulk.run(text, [], bulkUse)).rows).finally(close);
}
