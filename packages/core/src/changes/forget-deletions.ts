import type { Database } from '../database/database.ts';
import { ownFeed } from './epoch/epoch.ts';

/** The key of an advisory lock. Any number works if all instances use the same number. */
const forgetLock = 0x666f72676574; // "forget"

/** Each statement forgets at most this many deletions, so that other deletes do not wait for long. */
const stepSize = 1_000;

/**
 * Forgets the deletions that are older than `days` days, and returns the number of forgotten deletions. Does
 * nothing on a read replica or when another instance is forgetting deletions. When the feed
 * forgets a deletion, all cursors before this deletion expire.
 *
 * @throws PlantStoreError `databaseUnavailable`
 */
export async function forgetDeletions(
  { write }: Pick<Database, 'write'>,
  days: number,
): Promise<number> {
  const first = async (text: string, values: string[]) => {
    const { rows } = await write(text, values, { kind: 'deletes' });
    // The cast is safe, because both statements return one row with one value.
    return (rows as [[unknown]])[0][0];
  };
  if (!(await first(hasFeed, []))) return 0;
  let sum = 0;
  for (;;) {
    const count = Number(await first(forgetStep, [String(days)]));
    sum += count;
    if (count < stepSize) return sum;
  }
}

const hasFeed = 'select not pg_is_in_recovery()';

/** Forgets the oldest deletions, and notes the last transaction whose deletions are forgotten. */
const forgetStep = `
  with oldest as materialized (
    select changed_in, id, deleted_at from plant_deletions
    where (select pg_try_advisory_xact_lock(${forgetLock})) and exists (select from ${ownFeed})
    order by changed_in, id limit ${stepSize}
  ), old as materialized (
    select changed_in, id from oldest where deleted_at < now() - make_interval(days => $1::int)
  ), deleted as (
    delete from plant_deletions using old
    where (plant_deletions.changed_in, plant_deletions.id) = (old.changed_in, old.id) returning old.id
  ), moved as (
    update plant_feed set forgotten_up_to = last.changed_in
    from (select changed_in from old order by changed_in desc limit 1) as last
    where forgotten_up_to < last.changed_in
  ) select count(*) from deleted`;
