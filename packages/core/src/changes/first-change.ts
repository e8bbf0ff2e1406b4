import type { Database } from '../database/database.ts';
import { type Cursor, isBehind, lastId } from './cursor.ts';
import type { ReadChanges } from './read-changes.ts';

/**
 * Returns a cursor before the first change since a time. The time of a change is `createdAt` or `deletedAt`.
 * If nothing has changed since the time, returns the end of the feed.
 */
export async function cursorBefore(
  since: Date,
  { read, readChanges }: Pick<Database, 'read'> & { readChanges: ReadChanges },
): Promise<Cursor> {
  const { next: end } = await readChanges(undefined, 1);
  const values = [since.toISOString()];
  const found = await Promise.all(selects.map((text) => read(text, values, { kind: 'counts' })));
  const firsts = found.flatMap(({ rows }) => rows as [string][]); // The statements select one column.
  return firsts.reduce((cursor, [first]) => {
    const before = { epoch: end.epoch, transaction: BigInt(first) - 1n, id: lastId };
    return isBehind(cursor, before) ? before : cursor;
  }, end);
}

/** Selects the number of the first change. */
const firstOf = (table: string, time: string) => `
  select changed_in::text from ${table}
  where ${time} >= $1::timestamptz and changed_in is not null
  order by changed_in limit 1`;

const selects = [firstOf('plants', 'created_at'), firstOf('plant_deletions', 'deleted_at')];
