import type { PlantPage } from '@plant-store/schemas';
import { type AnyColumn, and, asc, eq, gt, gte, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../database/database.ts';
import { plants, tagHash } from '../database/tables.ts';
import { prepareStatement } from './statement.ts';
import { type StoredPlantRow, storedPlantColumns, toStoredPlant } from './stored-plant.ts';

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

export type ReadPage = (query: PageQuery) => Promise<PlantPage>;

/** A page ends after the plant with which its names and tags exceed so many bytes. */
const maxBytes = 1024 * 1024;

const conditions: Record<'after' | 'tag' | 'since', SQL | undefined> = {
  after: gt(plants.id, sql.placeholder('after')),
  tag: and(
    eq(tagHash(plants.tag), tagHash(sql`${sql.placeholder('tag')}::text`)),
    eq(plants.tag, sql.placeholder('tag')),
  ),
  since: gte(plants.createdAt, sql.placeholder('since')),
};

/**
 * Makes a function that reads a page of plants, ascending by id. A page needs no lock, and nothing
 * stays open in the database after it.
 */
export function createPageReader({ db, query }: Pick<Database, 'db' | 'query'>): ReadPage {
  const statements = new Map<string, ReturnType<typeof prepareStatement>>();

  return async ({ tag, since, after, limit }) => {
    const given = { after: after?.toString(), tag, since: since?.toISOString() };
    const read = statementFor(
      (['after', 'tag', 'since'] as const).filter((name) => given[name] !== undefined),
    );
    // One row more shows whether there is another page.
    const { rows } = await read({ ...given, limit: String(limit + 1) });
    const available = rows as PageRow[]; // The columns of `pageOf`.
    const page = available.slice(0, limit).map(toStoredPlant);
    const last = page.at(-1);
    const isLast = page.length === Number(available[0]?.[4] ?? 0);
    return { plants: page, ...(last && !isLast && { next: last.id }) };
  };

  function statementFor(names: readonly (keyof typeof conditions)[]) {
    const key = names.join();
    const statement = statements.get(key) ?? prepareStatement(query, pageOf(names));
    statements.set(key, statement);
    return statement;
  }

  /**
   * The window functions read only the rows within the limit. Over the whole table, they would pull
   * it to the coordinator on Citus.
   */
  function pageOf(names: readonly (keyof typeof conditions)[]) {
    const limited = db
      .select()
      .from(plants)
      .where(and(...names.map((name) => conditions[name])))
      .orderBy(asc(plants.id))
      .limit(sql.placeholder('limit'))
      .as('limited');
    const measured = db
      .select({
        id: limited.id,
        name: limited.name,
        tag: limited.tag,
        createdAt: limited.createdAt,
        rowsInLimit: sql<string>`count(*) over ()`.as('rows_in_limit'),
        bytesBefore: bytesBefore(limited).as('bytes_before'),
      })
      .from(limited)
      .as('measured');
    return db
      .select({ ...storedPlantColumns(measured), rowsInLimit: measured.rowsInLimit })
      .from(measured)
      .where(sql`${measured.bytesBefore} < ${sql.raw(String(maxBytes))}`)
      .orderBy(asc(measured.id));
  }
}

type PageRow = [...StoredPlantRow, rowsInLimit: string | number];

/** How many bytes the names and tags of the preceding plants have. */
function bytesBefore({
  id,
  name,
  tag,
}: Record<'id' | 'name' | 'tag', SQL | AnyColumn>): SQL<string> {
  return sql`coalesce(sum(octet_length(${name}) + coalesce(octet_length(${tag}), 0))
    over (order by ${id} rows between unbounded preceding and 1 preceding), 0)`;
}
