import { maxPageSize } from '@plant-store/schemas/plain';
import { arrayText, contentBytesSql, storedColumns } from './columns.ts';
import { maxPageBytes } from './page-memory.ts';
import { type PageQuery, whereOf } from './pages.ts';
import { plantJson } from './plant-json.ts';

/** A page without a search. */
export type SmallPageQuery = Pick<PageQuery, 'after' | 'tag' | 'limit'>;

/** The maximum bytes of the name and the tag of a plant in a small page. The largest page has 1 MiB of them. */
export const maxSmallBytes = Math.floor(maxPageBytes / maxPageSize);

/** The plants as JSON, the number of plants, the `after` of the next page, and whether the page is small. */
export type SmallPageRow = [string | null, number | string, string | null, boolean];

/**
 * Makes the statement for a page of up to 1,000 plants. Pages with the same statement may share it. A page is
 * small when it has no large plant. A page that is not small has no JSON, so read such a page again.
 */
export function selectSmallPages({ after, tag }: SmallPageQuery): string {
  // The subqueries hide the values from the planner, which would plan the statement again for other values.
  const size = '(select $3::int)';
  const isSmall = `(${contentBytesSql} <= ${maxSmallBytes}) is not false`;
  const where = whereOf({
    after: after === undefined ? undefined : 'asked.after',
    tag: tag === undefined ? undefined : 'asked.tag',
  });
  // The planner expects a tenth of the table from a hidden limit, and so reads in the order of an index. The
  // outer limit lowers the estimated cost. With a high cost, Postgres would compile each execution (`jit`).
  return `
    select page.*
    from unnest((select $1::bigint[]), (select $2::text[])) with ordinality as asked (after, tag, place)
    cross join lateral (
      select case when bool_and(${isSmall})
          then array_to_string((array_agg(${plantJson}) filter (where ${isSmall}))[:${size}], ',') end,
        least(count(*), ${size}), case when count(*) > ${size} then (array_agg(id))[${size}] end,
        coalesce(bool_and(${isSmall}), true)
      from (
        select * from (select ${storedColumns} from plants ${where} order by id limit ${size} + 1) as found
        order by id limit ${maxPageSize} + 1
      ) as found
    ) as page
    order by place`;
}

/** Returns the parameters of a statement that several pages of one size share. */
export function smallPageValues(pages: readonly SmallPageQuery[]): string[] {
  return [
    arrayText(pages.map(({ after }) => after?.toString())),
    arrayText(pages.map(({ tag }) => tag)),
    String(pages[0]?.limit),
  ];
}
