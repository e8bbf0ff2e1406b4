import type { CallOptions } from '../database/deadline.ts';
import type { Verbs } from '../database/verbs.ts';
import { type PageQuery, whereClause } from './pages.ts';

/** The plants to count. Without `tag`, the query counts all plants. */
export type CountQuery = Pick<PageQuery, 'tag'>;

/** Counts plants up to a limit. */
export type CountUpTo = (
  limit: number,
  query?: CountQuery,
  options?: CallOptions,
) => Promise<number>;

export function createCountUpTo({ read }: Pick<Verbs, 'read'>): CountUpTo {
  return async (limit, query = {}, options = {}) => {
    const { where, values } = whereClause(query);
    // The limit is a part of the SQL text and not a parameter, so that the planner knows the limit: see
    // pages.ts.
    const text = `select count(*) from (select 1 from plants ${where} limit ${limit}) as found`;
    const { rows } = await read(text, values, { share: 'lists', ...options });
    // The cast is safe, because the statement returns one row with one count.
    const [[count]] = rows as [[string | number]];
    return Number(count);
  };
}
