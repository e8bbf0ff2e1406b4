import type { Values } from '../database/database.ts';
import * as plants from '../plants/statements.ts';

/** The line with the arrays, such as `select * from unnest($1::bigint[], $2::text[])`, and its types. */
const arrays = plants.insertPlants.split('\n').find((line) => line.includes('unnest(')) ?? '';
const [, ...types] = arrays.split('::').map((part) => part.split('[')[0]);
const [beforeRows = '', afterRows = ''] = plants.insertPlants.split(arrays);

/**
 * Returns `insertPlants` with a list of rows, and its parameters: the deadline, and then the columns of each
 * row. Do not prepare it: each number of rows makes another statement, and Citus plans it again anyway.
 */
export function insertValues(values: Values) {
  const columns = values.slice(0, -1).map(elementsOf);
  const rows = (columns[0] ?? []).map((_, i) => columns.map((column) => column[i] ?? null));
  const places = rows.map((_, row) => {
    return `(${types.map((type, i) => `$${row * types.length + i + 2}::${type}`)})`;
  });
  const text = `${beforeRows}values ${places}${afterRows.replace(`$${values.length}`, '$1')}`;
  return [text, [values.at(-1) ?? null, ...rows.flat()]] as const;
}

/** Reads the text of an array (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
function elementsOf(array: string | null): (string | null)[] {
  const elements = (array ?? '{}').slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^",]+/gs) ?? [];
  return elements.map((each) => {
    if (each === 'NULL') return null;
    return each.startsWith('"') ? each.slice(1, -1).replace(/\\(.)/gs, '$1') : each;
  });
}

/**
 * Changes the reads for which the nodes would send many plants to the coordinator. A page of a search compares
 * fewer plants. A count counts on the nodes, because each node would send its plants up to the limit.
 */
export function withFewerRows(text: string, values: Values): [string, Values] {
  const [lowest = null, limit = null, words = null, tag = null] = values;
  const isPage = text === plants.selectPageOfAll || text === plants.selectPageOfTag;
  if (isPage && words === null) return [selectPage, [lowest, limit, tag]];
  const changed = text
    .replaceAll(compared, '20000')
    .replace(limitedCount, 'select least(count(*), $2)::text from $1');
  return [changed, values];
}

const compared = new RegExp(`\\b${plants.maxCompared}\\b`, 'g');
const limitedCount =
  /^\s{0,9}select count\(\*\)::text from \(select 1 from (.*) limit (\d{1,9})\) as found$/s;

/**
 * Selects a page without a search. Citus runs the subqueries of a search even when they are not needed.
 *
 * $1 the lowest id, $2 plants in the page, $3 the tag, or null
 */
const selectPage = `
  select count(*)::int,
    ${plants.plantArrays(`place <= $2::int and (bytes <= ${plants.maxPageBytes} or place = 1)`)},
    null
  from (
    select *, row_number() over in_order as place, sum(${plants.contentBytes}) over in_order as bytes
    from (
      select ${plants.columns} from plants
      where id >= $1::bigint and ($3::text is null or ${plants.hasTag('$3::text')})
      order by id limit $2::int + 1
    ) as found
    window in_order as (order by id rows unbounded preceding)
    order by id
  ) as found`;
