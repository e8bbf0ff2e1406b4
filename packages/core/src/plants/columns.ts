import type { Plant } from '@plant-store/schemas';
import { columnText, plantColumns, plantFields } from '@plant-store/schemas/plain';
import { plants } from '../tables/tables.ts';

/**
 * The columns of a plant's content. Two plants are the same plant if their ids are equal and their contents
 * are equal.
 */
export const contentColumns = plantFields.map((field) => ({
  field,
  name: plantColumns[field].name,
  /** The type in Postgres. */
  type: plants[field].getSQLType(),
}));

/** The names and the types of the columns of a new plant. */
export const newColumns = [{ name: 'id', type: 'bigint' }, ...contentColumns];

/** Formats the value of a property for Postgres. Returns undefined for a missing value. */
export function textOf(value: Plant[keyof Plant]): string | undefined {
  return value === undefined ? undefined : columnText(value);
}

/** Returns the content of a plant as parameters for a statement. */
export function contentValues(plant: Plant): (string | null)[] {
  return plantFields.map((field) => textOf(plant[field]) ?? null);
}

/** Formats the ids and the content of plants. Each column becomes an array in Postgres's text format. */
export function columnArrays(
  plants: readonly (Plant & { readonly id: bigint | number })[],
): string[] {
  const contents = plantFields.map((field) =>
    arrayText(plants.map((plant) => textOf(plant[field]))),
  );
  return [`{${plants.map(({ id }) => id)}}`, ...contents];
}

/** Formats texts as an array (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
export function arrayText(texts: readonly (string | undefined)[]): string {
  return `{${texts.map(element).join()}}`;
}

function element(text: string | undefined): string {
  if (text === undefined) return 'NULL';
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}

/** Returns the content of a plant, which is the response to a create. */
export function contentOf(plant: Plant): Plant {
  const content: Record<string, unknown> = {};
  for (const field of plantFields) {
    if (plant[field] !== undefined) content[field] = plant[field];
  }
  // The cast is safe, because `plantFields` contains every property of a plant.
  return content as unknown as Plant;
}

/** Whether two plants have the same content. */
export function hasSameContent(one: Plant, other: Plant): boolean {
  return one === other || plantFields.every((field) => textOf(one[field]) === textOf(other[field]));
}

/** SQL for the condition that two rows have the same content. The condition compares texts byte for byte. */
export function sameContentSql(one: string, other: string): string {
  const conditions = contentColumns.map(({ name, type }) => {
    const bytewise = type === 'text' ? ' collate "C"' : '';
    return `${one}.${name}${bytewise} is not distinct from ${other}.${name}`;
  });
  return conditions.join(' and ');
}

/** The number of UTF-16 code units in the content of a plant. */
export function contentLength(plant: Plant): number {
  return plantFields.reduce((sum, field) => sum + (textOf(plant[field])?.length ?? 0), 0);
}

/** SQL for the number of bytes in the content of a row. */
export const contentBytesSql: string = contentColumns
  .map(({ name }) => `coalesce(octet_length(${name}::text), 0)`)
  .join(' + ');

/** The columns of a stored plant, in the order in which clients see them. */
export const storedColumns = Object.values(plantColumns).map(({ name }) => name);
