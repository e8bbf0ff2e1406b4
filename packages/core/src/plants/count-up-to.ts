import { sql } from 'drizzle-orm';
import type { Run } from '../database/database.ts';
import type { Caller, Deadline } from '../database/deadline.ts';
import { plants } from '../database/tables.ts';
import { conditions } from './conditions.ts';
import { db, writeStatement } from './write-statement.ts';

/** Which plants to count; all of them when `tag` is omitted. */
export interface CountQuery {
  readonly tag?: string | undefined;
}

/** Counts plants, and stops at a limit. */
export type CountUpTo = (
  limit: number,
  query: CountQuery,
  deadline: Deadline,
  caller?: Caller,
) => Promise<number>;

export function createCountUpTo(run: Run): CountUpTo {
  return async (limit, { tag }, deadline, caller) => {
    const { text, values } = countStatement(limit, tag);
    const options = { share: 'lists', deadline, caller, isRepeatable: true } as const;
    const { rows } = await run(text, values, options);
    const [[count] = [0]] = rows as [string | number][]; // The count.
    return Number(count);
  };
}

/** The limit is a part of the text: see `RowsOf` in pages.ts. */
function countStatement(limit: number, tag: string | undefined) {
  const where = tag === undefined ? undefined : conditions.tag;
  const found = db
    .select({ one: sql`1`.as('one') })
    .from(plants)
    .where(where)
    .limit(sql.raw(String(limit)) as never) // It takes any SQL, but its type does not say so.
    .as('found');
  const count = db.select({ count: sql`count(*)` }).from(found);
  const { text, placeholders } = writeStatement(count);
  return { text, values: placeholders.map(() => tag ?? null) };
}
