import type { PlantPage, StoredPlant } from '@plant-store/schemas';
import { defaultPageSize } from '@plant-store/schemas/plain';
import type { Run } from '../database/database.ts';
import type { Caller, Deadline } from '../database/deadline.ts';
import {
  contentBytes,
  contentBytesSql,
  contentColumns,
  storedColumns,
  toStoredPlant,
} from './columns.ts';

/** Which plants a page has. */
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

export type ReadPage = (
  query: PageQuery,
  deadline: Deadline,
  caller?: Caller,
) => Promise<PlantPage>;

/** The most bytes of names and tags in a page. A page has at least one plant, of any size. */
const maxBytes = 1024 * 1024;

/**
 * Makes a function that reads a page of plants, ascending by id. A page needs no lock, and nothing
 * stays open in the database after it.
 */
export function createPageReader(run: Run): ReadPage {
  return async ({ limit, ...condition }, deadline, caller) => {
    const { where, values } = whereClause(condition);
    // A row after the last plant of the page shows that there is another page. The default size is a part
    // of the text: for a parameter, Postgres estimates far too many rows, and so plans the statement again for
    // each page. That takes longer than to read the page.
    const size = limit === defaultPageSize ? limit + 1 : `$${values.push(String(limit + 1))}::int`;
    const read = (text: string) =>
      run(text, values, { share: 'lists', deadline, caller, isRepeatable: true });

    let { rows } = await read(shortPlants(where, size));
    const hasLong = (rows as unknown[][]).some((row) => row[nameAt] === null);
    if (hasLong) ({ rows } = await read(plantsWithinBytes(where, size)));
    const plants = (rows as unknown[][]).map(toStoredPlant);
    const isWithinBounds =
      plants.length <= limit && (!hasLong || plants.reduce(sumBytes, 0) <= maxBytes);
    if (isWithinBounds || plants.length === 1) return { plants };
    const page = plants.slice(0, -1);
    return { plants: page, next: page.at(-1)?.id };
  };
}

const contentNames: readonly string[] = contentColumns.map(({ name }) => name);

/** The index of the name in a row. Every plant has a name. */
const nameAt = storedColumns.indexOf('name');

function sumBytes(bytes: number, plant: StoredPlant): number {
  return bytes + contentBytes(plant);
}

/** Selects null for the content of a plant that is longer than its share of a page. */
function shortPlants(where: string, size: number | string): string {
  const columns = storedColumns.map((name) =>
    contentNames.includes(name)
      ? `case when ${contentBytesSql} <= ${maxBytes} / ${size} then ${name} end`
      : name,
  );
  return `select ${columns} from plants ${where} order by id limit ${size}`;
}

/**
 * Selects the rows that fit into a page, and the next one. A plant counts as at most the bytes of a page,
 * so that the row after a larger plant is selected, too. The window function reads only the rows within
 * the limit: otherwise Citus would pull the whole table to the coordinator.
 */
function plantsWithinBytes(where: string, size: number | string): string {
  return `
    select ${storedColumns} from (
      select ${storedColumns}, coalesce(sum(least(${contentBytesSql}, ${maxBytes})) over (
        order by id rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (select ${storedColumns} from plants ${where} order by id limit ${size}) as limited
    ) as measured where bytes_before <= ${maxBytes} order by id`;
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
