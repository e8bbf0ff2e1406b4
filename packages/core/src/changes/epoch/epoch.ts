import type { Query } from '../../database/database.ts';

const systemIdentifier = '(select system_identifier from pg_control_system())';

/** SQL for the row of `plant_feed`, unless the row came with a restored dump of another server. */
export const ownFeed = `plant_feed where system_identifier = ${systemIdentifier}`;

/** The timeline of a primary. A restored backup or a promoted standby begins a new timeline. */
export const timeline = 'left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)';

/**
 * Whether the epoch in `plant_feed` belongs to this server and its timeline. A standby cannot evaluate the
 * condition about the timeline.
 */
export const isOwn = `(system_identifier = ${systemIdentifier} and timeline = ${timeline})`;

/**
 * Makes the row of the feed. Draws a new epoch when the current epoch belongs to another server or another timeline. The transaction
 * numbers in the dump of another server mean nothing on this server, so its deletions are forgotten.
 */
export async function renewFeed(query: Query): Promise<void> {
  await query(
    "insert into plant_feed (forgotten_up_to) select '0' where not exists (select from plant_feed)",
  );
  await query(`delete from plant_deletions where not exists (select from ${ownFeed})`);
  await query(`
    update plant_feed set epoch = default, system_identifier = default, timeline = default
    where not ${isOwn}`);
}
