import {
  columns,
  contentBytes,
  hasTag,
  insertPlants,
  maxCompared,
  maxPageBytes,
  plantArrays,
} from '../plants/statements.ts';

const [beforeRows = '', afterRows = ''] = insertPlants.split(
  'select * from unnest($1::bigint[], $2::text[], $3::text[])',
);

/**
 * The statement `insertPlants` with a list of rows. It is not prepared, because each number of rows makes
 * another statement, and Citus plans it again for each execution anyway.
 *
 * $1 the deadline, and then for each row its id, its name and its tag
 */
export function insertValues(count: number): string {
  const rows = Array.from({ length: count }, (_, i) => {
    return `($${3 * i + 2}::bigint,$${3 * i + 3}::text,$${3 * i + 4}::text)`;
  });
  return `${beforeRows}values ${rows}${afterRows.replace('$4', '$1')}`;
}

/** Turns arrays of the columns into rows (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
export function rowsOf(arrays: readonly (string | null)[]): (string | null)[][] {
  const columns = arrays.map((array) => {
    const elements = (array ?? '{}').slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^",]+/gs) ?? [];
    return elements.map((each) => {
      if (each === 'NULL') return null;
      return each.startsWith('"') ? each.slice(1, -1).replace(/\\(.)/gs, '$1') : each;
    });
  });
  return (columns[0] ?? []).map((_, i) => columns.map((column) => column[i] ?? null));
}

/**
 * `selectPageOfAll` without a search. Citus runs the subqueries of a search even when they are not needed.
 *
 * $1 the lowest id, $2 plants in the page, $3 the tag, or null
 */
export const selectPage = `
  select count(*)::int,
    ${plantArrays(`place <= $2::int and (bytes <= ${maxPageBytes} or place = 1)`)},
    null
  from (
    select *, row_number() over in_order as place, sum(${contentBytes}) over in_order as bytes
    from (
      select ${columns} from plants
      where id >= $1::bigint and ($3::text is null or ${hasTag('$3::text')})
      order by id limit $2::int + 1
    ) as found
    window in_order as (order by id rows unbounded preceding)
    order by id
  ) as found`;

/**
 * Changes the statements for which the nodes would send many plants to the coordinator. A page of a search
 * compares fewer plants. A count counts on the nodes, because each node would send its plants up to the limit.
 */
export const withFewerRows = (text: string) =>
  text
    .replaceAll(String(maxCompared), '20000')
    .replace(limitedCount, 'select least(count(*), $2)::text from $1');

const limitedCount = /select count\(\*\)::text from \(select 1 from (.*) limit (\d+)\) as found/s;
