import { storedColumns } from './columns.ts';

/** The bounds for one page of a search. Each page reads at least one plant. */
export interface SearchBounds {
  /** The maximum number of plants to read. */
  readonly rows: number;
  /** The time limit for comparing names, in which the first comparison begins. */
  readonly milliseconds: number;
  /** The collation for `lower`. Default: the collation of the database. */
  readonly collation?: string;
  /**
   * Whether the statement reads the plants only once.
   */
  readonly readsOnce: boolean;
}

/**
 * An embedded database has only one session, so a page of a search delays all other statements. In an
 * embedded database, `lower` is faster with `pg_c_utf8` than with the default collation. In an embedded
 * database, reading the plants of a few pages twice is faster than materializing the plants of every page.
 */
export const searchBounds = {
  postgres: { rows: 50_000, milliseconds: 50, readsOnce: true },
  embedded: { rows: 50_000, milliseconds: 20, readsOnce: false, collation: 'pg_c_utf8' },
} as const satisfies Record<string, SearchBounds>;

/**
 * Makes the parts of a statement for one page of a search. The statement selects the plants of the page, and
 * one further plant. No index finds a part of a name, so the statement reads a limited number of plants, and
 * compares their names.
 *
 * - `looked`: a WITH clause that selects the plants whose names the search compares
 * - `found`: the plants of the page. `is_match` is null for a plant whose name the search has not compared in
 *   time. If `is_match` is null, `reached` is the plant's id minus 1. For the first such plant, all names up
 *   to the id `reached` were compared.
 * - `last`: the highest id of `looked`, or null when `looked` has fewer plants than the limit
 */
export function selectMatches(
  where: string,
  size: number | string,
  text: string,
  { rows, milliseconds, collation, readsOnce }: SearchBounds,
): { looked: string; found: string; last: string } {
  const lower = (value: string) =>
    collation ? `lower(${value} collate "${collation}")` : `lower(${value})`;
  // Postgres evaluates the subquery once, at the first plant. Postgres evaluates the left side of `<=` before the subquery, so
  // the comparison of the first name is always in time.
  const isInTime = `clock_timestamp() <=
    (select clock_timestamp() + interval '${milliseconds} ms')`;
  return {
    looked: `with looked as ${readsOnce ? '' : 'not'} materialized (
      select ${storedColumns} from plants ${where} order by id limit ${rows})`,
    found: `
      select ${storedColumns}, is_match, case when is_match is null then id - 1 end as reached
      from (
        select ${storedColumns}, case when ${isInTime}
          then coalesce(strpos(${lower('name')}, (select ${lower(text)})) > 0, false) end as is_match
        from looked order by id
      ) as compared
      where is_match is not false
      order by id limit ${size} + 1`,
    last: `(select max(id) from looked having count(*) = ${rows})`,
  };
}
