import type { Verbs } from '../database/verbs.ts';
import { type Cursor, lastId } from './cursor.ts';
import type { ReadChanges } from './read-changes.ts';

/**
 * Returns a cursor before the first change since a time, by `createdAt` and `deletedAt`. Without a change
 * since that time, returns the end of the feed.
 */
export async function cursorBefore(
  since: Date,
  { read, readChanges }: Pick<Verbs, 'read'> & { readChanges: ReadChanges },
): Promise<Cursor> {
  const { next: end } = await readChanges(undefined, 1);
  const { rows } = await read(selectFirst, [since.toISOString()], { share: 'bulk' });
  const [[first] = []] = rows as [string][]; // The statement selects one column, and at most one row.
  return first === undefined ? end : { ...end, transaction: BigInt(first) - 1n, id: lastId };
}

const firstOf = (table: string, time: string) => `
  (select changed_in from ${table} where ${time} >= $1::timestamptz
    and changed_in < pg_snapshot_xmin(pg_current_snapshot()) order by changed_in limit 1)`;

const selectFirst = `
  select changed_in::text as transaction from (
    ${firstOf('plants', 'created_at')} union all ${firstOf('plant_deletions', 'deleted_at')}
  ) as first order by first.changed_in limit 1`;
