import type { PlantPage, StoredPlant } from '@plant-store/schemas';
import { defaultPageSize, type PlantField, plantFields } from '@plant-store/schemas/plain';
import { and, asc, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Run } from '../database/database.ts';
import type { Caller, Deadline } from '../database/deadline.ts';
import { plants } from '../database/tables.ts';
import { contentBytes, contentBytesSql, storedPlantColumns, toStoredPlant } from './columns.ts';
import { conditions } from './conditions.ts';
import { db, writeStatement } from './write-statement.ts';

/** Which plants a page has. */
export interface PageQuery {
  /** Only plants with this tag. */
  readonly tag?: string | undefined;
  /** Only plants that were created at this time or later. */
  readonly since?: Date | undefined;
  /** Only plants with greater ids. */
  readonly after?: bigint | undefined;
  /** How many plants, at most. */
  readonly limit: number;
}

export type ReadPage = (
  query: PageQuery,
  deadline: Deadline,
  caller?: Caller,
) => Promise<PlantPage>;

/** Bytes of the names and tags in a page, at most. A page always has one plant, however large. */
const maxBytes = 1024 * 1024;

/**
 * Makes a function that reads a page of plants, ascending by id. A page needs no lock, and nothing
 * stays open in the database after it.
 */
export function createPageReader(run: Run): ReadPage {
  const statements = new Map<string, ReturnType<typeof writeStatement>>();

  return async ({ tag, since, after, limit }, deadline, caller) => {
    // One row more than the page shows whether there is another page.
    const given: Record<string, string | undefined> = {
      after: after?.toString(),
      tag,
      since: since?.toISOString(),
      limit: String(limit + 1),
    };
    const names = (['after', 'tag', 'since'] as const).filter((name) => given[name] !== undefined);
    const read = async (rowsOf: RowsOf) => {
      const { text, placeholders } = statementFor(rowsOf, names, limit);
      const values = placeholders.map((name) => given[name] ?? null);
      return run(text, values, { share: 'lists', deadline, caller, isRepeatable: true });
    };

    let { rows } = await read(shortPlants);
    const hasLong = (rows as unknown[][]).some((row) => row[nameAt] === null);
    if (hasLong) ({ rows } = await read(plantsWithinBytes));
    const plants = (rows as unknown[][]).map(toStoredPlant);
    const isWithinBounds =
      plants.length <= limit && (!hasLong || plants.reduce(sumBytes, 0) <= maxBytes);
    if (isWithinBounds || plants.length === 1) return { plants };
    const page = plants.slice(0, -1);
    return { plants: page, next: page.at(-1)?.id };
  };

  /** The statement for a page. Most pages have the default size. */
  function statementFor(
    rowsOf: RowsOf,
    names: readonly (keyof typeof conditions)[],
    limit: number,
  ) {
    const size = limit === defaultPageSize ? limit : undefined;
    const key = [rowsOf.name, ...names, size].join();
    const where = and(...names.map((name) => conditions[name]));
    const maxRows = size === undefined ? sql.placeholder('limit') : literal(size + 1);
    const statement = statements.get(key) ?? writeStatement(rowsOf(where, maxRows));
    statements.set(key, statement);
    return statement;
  }
}

/**
 * Selects the rows of a page and, unless it is the last page, one row more.
 *
 * @param maxRows as a part of the text where possible. Postgres estimates a limit that is a parameter far
 *   too high, so it plans the statement again for each page, which takes longer than to read the page.
 */
type RowsOf = typeof shortPlants | typeof plantsWithinBytes;

/** Leaves out the content of plants that are longer than their share of a page. */
function shortPlants(where: SQL | undefined, maxRows: Placeholder) {
  const ifShort = (column: PgColumn) =>
    sql`case when ${contentBytesSql(plants)} <= ${literal(maxBytes)} / ${maxRows} then ${column} end`;
  const content = plantFields.map((field) => [field, ifShort(plants[field])]);
  return db
    .select({ ...storedPlantColumns(plants), ...Object.fromEntries(content) })
    .from(plants)
    .where(where)
    .orderBy(asc(plants.id))
    .limit(maxRows);
}

/**
 * Ends before a row that does not fit, and has that row, too. The window function reads only the rows
 * within the limit. Over the whole table, it would pull the table to the coordinator on Citus.
 */
function plantsWithinBytes(where: SQL | undefined, maxRows: Placeholder) {
  const limited = db
    .select()
    .from(plants)
    .where(where)
    .orderBy(asc(plants.id))
    .limit(maxRows)
    .as('limited');
  const measured = db
    .select({
      ...storedPlantColumns(limited),
      bytesBefore: bytesBefore(limited).as('bytes_before'),
    })
    .from(limited)
    .as('measured');
  return db
    .select(storedPlantColumns(measured))
    .from(measured)
    .where(sql`${measured.bytesBefore} <= ${literal(maxBytes)}`)
    .orderBy(asc(measured.id));
}

/** A number in the text of a statement; Drizzle would make it a parameter. */
function literal(value: number): Placeholder {
  return sql.raw(String(value)) as unknown as Placeholder; // `limit` takes any SQL, but its type does not say so.
}

/** Where a row has the name, which every plant has. */
const nameAt = Object.keys(storedPlantColumns(plants)).indexOf('name');

function sumBytes(bytes: number, plant: StoredPlant): number {
  return bytes + contentBytes(plant);
}

/**
 * How many bytes the content of the preceding plants has. A plant counts as at most the bytes
 * of a page, so that the row after a larger plant is selected, too.
 */
function bytesBefore(row: Record<'id' | PlantField, PgColumn>): SQL<string> {
  return sql`coalesce(sum(least(${contentBytesSql(row)}, ${literal(maxBytes)}))
    over (order by ${row.id} rows between unbounded preceding and 1 preceding), 0)`;
}
