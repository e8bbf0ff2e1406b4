import { defaultPageSize } from '@plant-store/schemas/plain';
import { arrayText, contentBytesSql, storedColumns } from './columns.ts';
import { maxPageBytes } from './page-memory.ts';
import { type PageQuery, whereOf } from './pages.ts';
import { plantJson } from './plant-json.ts';

/** A page without a search. */
export type SmallPageQuery = Pick<PageQuery, 'after' | 'tag' | 'limit'>;

/** The plants as JSON, the number of plants, the `after` of the next page, and whether the page is small. */
export type SmallPageRow = [string | null, number | string, string | null, boolean];

/**
 * Makes the statement for a page. Pages with the same statement may share it. A page is small when each of its
 * plants needs at most an equal part of 1 MiB. A page that is not small lacks its large plants, so read such a
 * page again.
 */
export function selectSmallPages({ after, tag, limit }: SmallPageQuery): string {
  // The subqueries hide the values from the planner, which would plan the statement again for other values.
  const size = limit === defaultPageSize ? `${limit}` : '(select $3::int)';
  const isSmall = `(${contentBytesSql} <= ${maxPageBytes} / ${size}) is not false`;
  const where = whereOf({
    after: after === undefined ? undefined : 'asked.after',
    tag: tag === undefined ? undefined : 'asked.tag',
  });
  return `
    select page.*
    from unnest((select $1::bigint[]), (select $2::text[])) with ordinality as asked (after, tag, place)
    cross join lateral (
      select array_to_string((array_agg(${plantJson}) filter (where ${isSmall}))[:${size}], ','),
        least(count(*), ${size}), case when count(*) > ${size} then (array_agg(id))[${size}] end,
        coalesce(bool_and(${isSmall}), true)
      from (select ${storedColumns} from plants ${where} order by id limit ${size} + 1) as found
    ) as page
    order by place`;
}

/** Returns the parameters of a statement that several pages share. */
export function smallPageValues(pages: readonly SmallPageQuery[]): string[] {
  const size = pages[0]?.limit ?? defaultPageSize;
  return [
    arrayText(pages.map(({ after }) => after?.toString())),
    arrayText(pages.map(({ tag }) => tag)),
    ...(size === defaultPageSize ? [] : [String(size)]),
  ];
}
