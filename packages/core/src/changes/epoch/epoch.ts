import { holds, type Query, send } from '../../database/query.ts';
import { buildIndexes, feedIndex, lockTimeout } from '../../tables/indexes.ts';
import { thisTransaction } from '../../tables/tables.ts';

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
 * Switches the feed on for all instances. Draws a new epoch unless the feed is already on. If `switchOn` is
 * interrupted, the next `switchOn` does the remaining steps.
 */
export async function switchOn(query: Query): Promise<void> {
  if (await holds(query, isNotCleared)) {
    await transaction(query, ['lock table plants in access exclusive mode'], async () => {
      // While this instance waited for the lock, another instance may have cleared the feed.
      return (await holds(query, isNotCleared)) ? clear : [];
    });
  }
  await buildIndexes(query);
  // The ALTER TABLE waits for all running writes. Each later write sets `changed_in`, its place in the feed.
  await transaction(query, [
    `alter table plants alter column changed_in set default ${thisTransaction}`,
    drawEpoch,
  ]);
}

/** Switches the feed off for all instances. */
export async function switchOff(query: Query): Promise<void> {
  await transaction(query, ['alter table plants alter column changed_in drop default', ...forget]);
  await send(query, `drop index concurrently if exists ${feedIndex}`);
}

/**
 * Draws a new epoch when the current epoch belongs to another server or another timeline. After the restore
 * of another server's dump, the feed begins anew: the transaction numbers in the dump mean nothing on this
 * server.
 */
export async function renewFeed(query: Query): Promise<void> {
  if (!(await holds(query, `exists (select from plant_feed where not ${isOwn})`))) return;
  const isForeign = await holds(query, `not exists (select from ${ownFeed})`);
  await (isForeign ? switchOn(query) : send(query, drawEpoch));
}

/** Lock `plants` before you run these statements, so that no delete can write to `plant_deletions`. */
const forget = ['delete from plant_feed', 'truncate plant_deletions'];

const isNotCleared = `not exists (select from plant_feed where system_identifier in (0, ${systemIdentifier}))`;

/** The feed is off while `plant_feed` contains the identifier 0. No server has this identifier. */
const clear = [
  // Adding an empty column does not rewrite the table. The index of an empty column is small.
  'alter table plants drop column if exists changed_in, add column changed_in xid8',
  ...forget,
  'insert into plant_feed (system_identifier) values (0)',
];

const drawEpoch = `
  update plant_feed set epoch = default, system_identifier = default, timeline = default where not ${isOwn}`;

async function transaction(
  query: Query,
  statements: readonly string[],
  more: () => Promise<readonly string[]> = async () => [],
): Promise<void> {
  await send(query, 'begin');
  await send(query, `set local lock_timeout = ${lockTimeout}`);
  for (const statement of statements) await send(query, statement);
  for (const statement of await more()) await send(query, statement);
  await send(query, 'commit');
}
