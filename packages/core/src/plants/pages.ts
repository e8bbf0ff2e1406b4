import type { PlantPage } from '@plant-store/schemas';
import { defaultPageSize } from '@plant-store/schemas/plain';
import type { Database, RunOptions } from '../database/database.ts';
import { contentBytesSql, storedColumns } from './columns.ts';
import { withLazyList, withText } from './output-text.ts';
import { maxPageBytes, reservePage } from './page-memory.ts';
import { columnsJson, parsePage, plantTexts } from './plant-json.ts';
import { type SearchBounds, selectMatches } from './search.ts';

/** The conditions for the plants in a page. */
export interface PageQuery {
  /** Selects only plants with this tag. */
  readonly tag?: string | undefined;
  /** Selects only plants that were created at this time or later. */
  readonly since?: Date | undefined;
  /** Selects only plants whose name contains this text. Upper and lower case are not distinguished. */
  readonly search?: string | undefined;
  /** Selects only plants whose ids are greater than this id. */
  readonly after?: bigint | undefined;
  /** The maximum number of plants in the page. */
  readonly limit: number;
}

/**
 * Makes a function that reads a page of plants in ascending order of id. Reading a page takes no lock, and
 * leaves nothing open in the database. Postgres writes each column of the page as JSON.
 *
 * @param bounds the bounds for a page of a search
 */
export function createPageReader({ read }: Pick<Database, 'read'>, bounds: SearchBounds) {
  return async (
    { limit, search, ...condition }: PageQuery,
    options: Pick<RunOptions, 'kind' | 'deadline' | 'caller'>,
  ): Promise<PlantPage> => {
    const { where, values } = whereClause(condition);
    // The SQL text contains the default size of a page. With a parameter for the size, Postgres would
    // estimate far too many rows, and would therefore plan the statement again for each page. Planning the
    // statement takes longer than reading the page.
    const size = limit === defaultPageSize ? limit : `$${values.push(String(limit))}::int`;
    const selected =
      search === undefined
        ? { found: selectFound(where, size) }
        : selectMatches(where, size, `$${values.push(search)}::text`, bounds);
    const { onTurn, settle } = reservePage(options.caller, limit);
    const { rows } = await read(selectPage(selected, size), values, { ...options, onTurn });
    // The cast is safe, because the statement returns exactly one row.
    const [[next, ...columns]] = rows as [Row];
    const page = pageOf(plantTexts(columns), next);
    settle(page.bytes);
    return page.output;
  };
}

/** The value of `after` for the next page, and the columns of the plants: see `columnsJson`. */
type Row = [next: string | null, ...columns: (string | null)[]];

/**
 * Makes a page, and counts the bytes of its JSON.
 *
 * @param plants the JSON of each plant
 */
export function pageOf(
  plants: readonly string[],
  nextText: string | null | undefined,
): { output: PlantPage; bytes: number } {
  const list = plants.join();
  // PGlite returns a number, which can be 0.
  const next = nextText == null ? undefined : BigInt(nextText);
  const json = `{"plants":[${list}]${next === undefined ? '' : `,"next":${next}`}}`;
  const page = withLazyList('plants', () => parsePage(json), next === undefined ? {} : { next });
  const text = {
    json,
    list: 'plants',
    count: plants.length,
    hasNextId: next !== undefined,
  } as const;
  return { output: withText(page, text), bytes: Buffer.byteLength(json) };
}

/**
 * Selects the plants of a page as JSON. The first plant always fits into the page, even if the plant is very
 * large. The window functions read only the rows within the limit.
 */
function selectPage(
  { looked = '', found, last = 'null' }: { looked?: string; found: string; last?: string },
  size: number | string,
): string {
  return `
    select page.* from (
      ${looked}
      select coalesce(min(previous) filter (where not fits), ${last}),
        ${columnsJson('filter (where fits)')}
      from (
        select ${storedColumns},
          case when is_match then pg_catalog.lag(id) over page else reached end as previous,
          is_match is true and (row_number() over page = 1 or row_number() over page <= ${size}
            and sum(case when is_match then ${contentBytesSql} else ${maxPageBytes} + 1 end) over page
              <= ${maxPageBytes}) as fits
        from (${found}) as found
        window page as (order by id rows unbounded preceding) order by id
      ) as measured
    ) as page`;
}

/** Selects the plants of a page, and one further plant. */
function selectFound(where: string, size: number | string): string {
  return `
    select ${storedColumns}, true as is_match, null::bigint as reached
    from plants ${where} order by id limit ${size} + 1`;
}

/** Makes the WHERE clause of a statement, and the values of the parameters in the clause. */
export function whereClause({ tag, since, after }: Omit<PageQuery, 'limit' | 'search'>): {
  where: string;
  values: string[];
} {
  const values: string[] = [];
  const parameter = (value: string | undefined) =>
    value === undefined ? undefined : `$${values.push(value)}`;
  const where = whereOf({
    after: parameter(after?.toString()),
    tag: parameter(tag),
    since: parameter(since?.toISOString()),
  });
  return { where, values };
}

/** Makes a WHERE clause. Each argument is a piece of SQL, such as `$1`. */
export function whereOf({
  after,
  upTo,
  tag,
  since,
}: { [Key in 'after' | 'upTo' | 'tag' | 'since']?: string | undefined }): string {
  const conditions: string[] = [];
  if (after !== undefined) conditions.push(`id > ${after}::bigint`);
  if (upTo !== undefined) conditions.push(`id <= ${upTo}`);
  if (tag !== undefined) {
    conditions.push(
      `hashtextextended(tag, 0) = hashtextextended(${tag}::text, 0)`,
      // With a plain condition instead of `case`, the planner would sort all rows of a frequent tag.
      `case when tag = ${tag}::text then true end`,
    );
  }
  if (since !== undefined) conditions.push(`created_at >= ${since}`);
  return conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
}
