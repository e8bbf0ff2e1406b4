import type { RunText } from '../../schema-version.ts';
import { buildIndexes, feedIndex } from './indexes.ts';

/** Milliseconds to wait for a lock. A waiting statement blocks all later ones. */
export const lockTimeout = 4_500;

/**
 * Whether Citus has distributed the plants, or has begun to, as a condition in SQL. Citus adds this trigger
 * on each node. A statement cannot name Citus's own tables, because other databases lack them.
 */
export const isCluster = `exists (select from pg_trigger where tgrelid = to_regclass('plants')
  and tgfoid = to_regproc('pg_catalog.citus_truncate_trigger'))`;

/** The state of the feed. A dump of another server also restores the state of that server's feed. */
export const ownFeed =
  'plant_feed where system_identifier = (select system_identifier from pg_control_system())';

/** Whether a condition in SQL holds. */
export async function holds(run: RunText, condition: string): Promise<boolean> {
  const [row] = (await run(`select ${condition} as holds`)) as [{ holds: boolean }]; // The statement returns one row.
  return row.holds;
}

/** Switches the feed on for all instances, with an epoch of its own unless it is on. */
export async function switchOn(run: RunText, isOn: boolean): Promise<void> {
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

/** Switches the feed off for all instances. */
export async function switchOff(run: RunText): Promise<void> {
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

/**
 * Begins the feed anew after the restore of a dump that comes from another server. The numbers of the
 * transactions in it mean nothing here.
 */
export async function renewForeignFeed(run: RunText): Promise<void> {
  if (await holds(run, isCluster)) return;
  const isForeign = `exists (select from plant_feed) and not exists (select from ${ownFeed})`;
  if (await holds(run, isForeign)) await switchOn(run, false);
}
