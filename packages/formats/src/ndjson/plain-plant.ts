import type { ColumnKind } from '@plant-store/schemas/plain';
import { emptyPlant, fileColumns, isRequired, readColumns } from '../rows/columns.ts';
import { readValue } from '../rows/read-value.ts';
import type { ReadOptions } from '../rows/row.ts';

/** Matches a text without escapes. JSON does not allow control characters in a text. */
const text = String.raw`"([^"\\\x00-\x1f]*)"`;

/** Patterns of values without escapes. The patterns match only numbers that `readValue` reads exactly. */
const values: Record<ColumnKind, string> = {
  int64: String.raw`(0|-?[1-9]\d{0,18})`,
  number: String.raw`(-?(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?)`,
  text,
  time: text,
};

/**
 * Makes a function that reads a line without escapes, with the fields in the order of `columns`. The function
 * returns undefined for any other line. Most programs write lines of this kind. A pattern is several times as
 * fast as a JSON parser that keeps long integers exact.
 */
export function plainPlantReader(options: Pick<ReadOptions, 'columns' | 'createdAt'>) {
  const columns = fileColumns(options.columns);
  const read = new Set(readColumns(options).map(({ field }) => field));
  const properties = columns.map((column, i) => {
    const property = `${i === 0 ? '' : ', ?'}"${column.name}": ?${values[column.kind]}`;
    return isRequired(column) ? property : `(?:${property})?`;
  });
  const pattern = new RegExp(String.raw`^\{${properties.join('')}\}\r?$`);
  const groups = columns.map(({ field, kind }) => (read.has(field) ? { field, kind } : undefined));
  const empty = emptyPlant(options.columns);

  return (line: string): Record<string, unknown> | undefined => {
    const found = pattern.exec(line);
    if (!found) return undefined;
    const plant: Record<string, unknown> = { ...empty };
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i];
      const value = found[i + 1];
      if (group === undefined || value === undefined) continue;
      const read = readValue(group.kind, value);
      if (read === undefined) return undefined;
      plant[group.field] = read;
    }
    return plant;
  };
}
