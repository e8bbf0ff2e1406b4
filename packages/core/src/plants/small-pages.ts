import { maxPageSize } from '@plant-store/schemas/plain';
import { arrayText, contentBytesSql, storedColumns } from './columns.ts';
import { maxPageBytes } from './page-memory.ts';
import { type PageQuery, pageOf, whereOf } from './pages.ts';
import { columnsJson, idTexts, plantTexts } from './plant-json.ts';

/** The conditions for a page without a search. */
export type SmallPageQuery = Pick<PageQuery, 'after' | 'tag' | 'limit'>;

/**
 * The maximum size of a plant's name and tag in a small page, in bytes. The names and tags of 1,000 plants in
 * a small page have at most 1 MiB.
 */
export const maxSmallBytes = Math.floor(maxPageBytes / maxPageSize);

/**
 * A row describes one page. `isSmall` says whether the page is small. The columns contain the page's plants
 * and one further plant: see `columnsJson`.
 */
export type SmallPageRow = [isSmall: boolean, ...columns: (string | null)[]];

/** Makes a page from a row that the statement of `selectSmallPages` returned. */
export function smallPageOf(columns: readonly (string | null)[], limit: number) {
  const plants = plantTexts(columns);
  const next = plants.length > limit ? idTexts(columns)[limit - 1] : undefined;
  return pageOf(plants.slice(0, limit), next);
}

/**
 * Makes a statement that reads several pages. All pages have the same size, which is at most 1,000 plants.
 * All pages must have the same kinds of conditions. For a page with a large plant, the statement returns no
 * complete JSON, so the caller must read the page again.
 */
export function selectSmallPages({ after, tag }: SmallPageQuery): string {
  // The subqueries hide the values of the parameters from the planner. If the planner saw the values,
  // Postgres would plan the statement again for new values.
  const size = '(select $3::int)';
  const isSmall = `(${contentBytesSql} <= ${maxSmallBytes}) is not false`;
  const where = whereOf({
    after: after === undefined ? undefined : 'asked.after',
    tag: tag === undefined ? undefined : 'asked.tag',
  });
  // The planner does not know the hidden limit, and expects a tenth of the table's rows. The planner
  // therefore reads an index in order. At a high estimated cost, Postgres would compile the statement for
  // each execution (`jit`). The outer limit lowers the estimated cost.
  return `
    select page.*
    from unnest((select $1::bigint[]), (select $2::text[])) with ordinality as asked (after, tag, place)
    cross join lateral (
      select coalesce(bool_and(is_small), true), ${columnsJson('filter (where is_small)')}
      from (
        select * from (
          select ${storedColumns}, ${isSmall} as is_small from plants ${where} order by id limit ${size} + 1
        ) as found
        order by id limit ${maxPageSize} + 1
      ) as found
    ) as page
    order by place`;
}

/** Returns the parameters for a statement that reads several pages of the same size. */
export function smallPageValues(pages: readonly SmallPageQuery[]): string[] {
  return [
    arrayText(pages.map(({ after }) => after?.toString())),
    arrayText(pages.map(({ tag }) => tag)),
    String(pages[0]?.limit),
  ];
}
