import type { PlantPage } from '@plant-store/schemas';
import { defaultPageSize } from '@plant-store/schemas/plain';
import type { RunOptions, Verbs } from '../database/verbs.ts';
import { contentBytes, contentBytesSql, storedColumns, toStoredPlant } from './columns.ts';
import { maxPageBytes, reservePage } from './page-memory.ts';

/** The conditions for the plants of a page. */
export interface PageQuery {
  /** Only plants with this tag. */
  readonly tag?: string | undefined;
  /** Only plants that were created at this time or later. */
  readonly since?: Date | undefined;
  /** Only plants with greater ids. */
  readonly after?: bigint | undefined;
  /** The most plants in the page. */
  readonly limit: number;
}

/**
 * Makes a function that reads a page of plants, ascending by id. A page needs no lock, and nothing
 * stays open in the database after it.
 */
export function createPageReader({ read }: Pick<Verbs, 'read'>) {
  return async (
    { limit, ...condition }: PageQuery,
    options: Pick<RunOptions, 'share' | 'deadline' | 'caller'>,
  ): Promise<PlantPage> => {
    const { where, values } = whereClause(condition);
    // A row after the last plant of the page shows that there is another page. The default size is a part
    // of the text: for a parameter, Postgres estimates far too many rows, and so plans the statement again for
    // each page. That takes longer than to read the page.
    const size = limit === defaultPageSize ? limit + 1 : `$${values.push(String(limit + 1))}::int`;
    const { onTurn, settle } = reservePage(options.caller, limit);
    const text = plantsWithinBytes(where, size);
    const { rows } = await read(text, values, { ...options, onTurn });
    const plants = (rows as unknown[][]).map(toStoredPlant);
    const isWhole = plants.length <= limit && contentBytes(plants) <= maxPageBytes;
    const page = isWhole || plants.length === 1 ? plants : plants.slice(0, -1);
    settle(page.length, contentBytes(page));
    return page === plants ? { plants } : { plants: page, next: page.at(-1)?.id };
  };
}

/**
 * Selects the rows that fit into a page, and the next one. A plant counts as at most the bytes of a page, so
 * that even the row after a larger plant is selected. The window function reads only the rows within the
 * limit. Otherwise, a cluster would pull the whole table to the coordinator.
 */
function plantsWithinBytes(where: string, size: number | string): string {
  return `
    select ${storedColumns} from (
      select ${storedColumns}, coalesce(sum(least(${contentBytesSql}, ${maxPageBytes})) over (
        order by id rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (select ${storedColumns} from plants ${where} order by id limit ${size}) as limited
    ) as measured where bytes_before <= ${maxPageBytes} order by id`;
}

/** The WHERE clause of a statement on plants, and the values of its parameters. */
export function whereClause({ tag, since, after }: Omit<PageQuery, 'limit'>): {
  where: string;
  values: string[];
} {
  const values: string[] = [];
  const conditions: string[] = [];
  if (after !== undefined) conditions.push(`id > $${values.push(String(after))}`);
  if (tag !== undefined) {
    const text = `$${values.push(tag)}::text`;
    conditions.push(
      `hashtextextended(tag, 0) = hashtextextended(${text}, 0)`,
      // With two plain conditions, the planner would expect few rows and sort all rows of a frequent tag.
      `case when tag = ${text} then true end`,
    );
  }
  if (since) conditions.push(`created_at >= $${values.push(since.toISOString())}`);
  return { where: conditions.length > 0 ? `where ${conditions.join(' and ')}` : '', values };
}
