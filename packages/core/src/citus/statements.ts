import { maxExactCount } from '@plant-store/schemas';
import type { Values } from '../database/database.ts';
import * as plants from '../plants/statements.ts';

/** The line of `insertPlants` with its arrays, such as `select * from unnest($1::bigint[], $2::text[])`. */
const arrays = plants.insertPlants.split('\n').find((line) => line.includes('unnest(')) ?? '';
const [, ...types] = arrays.split('::').map((part) => part.split('[')[0]);
const [beforeRows = '', afterRows = ''] = plants.insertPlants.split(arrays);

/**
 * Returns `insertPlants` with `VALUES` instead of arrays, and its parameters: the deadline, and then each row.
 * Do not prepare this statement: the number of rows changes its text, and Citus plans each execution again.
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

/** Parses the text form of an array (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
function elementsOf(array: string | null): (string | null)[] {
  const elements = (array ?? '{}').slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^",]+/gs) ?? [];
  return elements.map((each) => {
    if (each === 'NULL') return null;
    return each.startsWith('"') ? each.slice(1, -1).replace(/\\(.)/gs, '$1') : each;
  });
}

/**
 * Changes the reads for which the nodes would send many plants to the coordinator. A search compares fewer
 * plants. For a count, each node sends the number of its plants instead of the plants.
 */
export function withFewerRows(text: string): string {
  return text
    .replaceAll(new RegExp(`\\b${plants.maxCompared}\\b`, 'g'), '20000')
    .replace('count(*)::text from (select 1', `least(count(*), ${maxExactCount + 1})::text`)
    .replace(` limit ${maxExactCount + 1}) as found`, '');
}
