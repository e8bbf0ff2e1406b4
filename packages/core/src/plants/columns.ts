import type { Plant, StoredPlant } from '@plant-store/schemas';
import {
  type ColumnKind,
  columnText,
  type PlantField,
  plantColumns,
  plantFields,
} from '@plant-store/schemas/plain';
import { getTableColumns, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { plants } from '../database/tables.ts';

/** What makes a plant the same plant: all columns but the id and the time, in the order of the table. */
const contentFields = Object.keys(getTableColumns(plants)).flatMap(
  (column) => plantFields.find((field) => field === column) ?? [],
);

/** The columns of the content in statements that Drizzle does not write. */
export const contentColumns = contentFields.map((field) => ({
  field,
  name: plantColumns[field].name,
  /** The type in Postgres. */
  type: plants[field].getSQLType(),
}));

/** The content of a new row, as placeholders; `contentValues` has their values. */
export const contentPlaceholders = Object.fromEntries(
  contentFields.map((field) => [field, sql.placeholder(field)]),
) as Record<PlantField, Placeholder>; // `fromEntries` loses the type of the keys.

/** The value of a property as Postgres reads it; undefined for a missing one. */
export function textOf(value: Plant[keyof Plant]): string | undefined {
  return value === undefined ? undefined : columnText(value);
}

/** The content of a plant, as the parameters of a statement. */
export function contentValues(plant: Plant): (string | null)[] {
  return contentFields.map((field) => textOf(plant[field]) ?? null);
}

/** The content of plants as an array in Postgres's text format, for each column. */
export function contentArrays(plants: readonly Plant[]): string[] {
  return contentFields.map((field) => arrayText(plants.map((plant) => textOf(plant[field]))));
}

/** Texts as an array (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
function arrayText(texts: readonly (string | undefined)[]): string {
  return `{${texts.map(element).join()}}`;
}

function element(text: string | undefined): string {
  if (text === undefined) return 'NULL';
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}

/** What a client gets for a plant that it creates. */
export function contentOf(plant: Plant): Plant {
  const content: Record<string, unknown> = {};
  for (const field of plantFields) {
    if (plant[field] !== undefined) content[field] = plant[field];
  }
  return content as unknown as Plant; // The list has each property of a plant.
}

/** Whether two plants have the same content. */
export function hasSameContent(one: Plant, other: Plant): boolean {
  return one === other || plantFields.every((field) => textOf(one[field]) === textOf(other[field]));
}

/** The condition that two rows have the same content. Texts are compared byte for byte. */
export function sameContentSql(one: string, other: string): string {
  const conditions = contentColumns.map(({ name, type }) => {
    const bytewise = type === 'text' ? ' collate "C"' : '';
    return `${one}.${name}${bytewise} is not distinct from ${other}.${name}`;
  });
  return conditions.join(' and ');
}

/** How many characters (UTF-16) the content of a plant has, as text. */
export function contentLength(plant: Plant): number {
  return plantFields.reduce((sum, field) => sum + (textOf(plant[field])?.length ?? 0), 0);
}

/** How many bytes the content of a plant has, as text. */
export function contentBytes(plant: Plant): number {
  return plantFields.reduce((sum, field) => sum + Buffer.byteLength(textOf(plant[field]) ?? ''), 0);
}

/** The same for a row. */
export function contentBytesSql(row: Record<PlantField, PgColumn | SQL.Aliased>): SQL {
  const sizes = plantFields.map((field) => sql`coalesce(octet_length(${row[field]}::text), 0)`);
  return sql`(${sql.join(sizes, sql` + `)})`;
}

/** The properties of a stored plant, in the order in which clients see them. */
const storedFields = Object.keys(plantColumns) as (keyof typeof plantColumns)[]; // `keys` loses their types.

/** Selects the columns of a stored plant from the table or a subquery, in the order of the list. */
export function storedPlantColumns(source: StoredPlantSource): StoredPlantSource {
  const columns = storedFields.map((field) => [field, source[field]]);
  return Object.fromEntries(columns) as StoredPlantSource; // `fromEntries` loses the type of the keys.
}

type StoredPlantSource = Readonly<Record<keyof typeof plantColumns, PgColumn>>;

/** Makes a plant of a row that `storedPlantColumns` selected, as a driver reads it. */
export function toStoredPlant(row: readonly unknown[]): StoredPlant {
  const plant: Record<string, unknown> = {};
  storedReaders.forEach(({ field, read }, i) => {
    if (row[i] !== null) plant[field] = read(row[i] as string);
  });
  return plant as unknown as StoredPlant; // The table has the columns of the list.
}

/** How a value is read that a driver returns as text, or already as the value. */
const readers: Record<ColumnKind, (value: string) => unknown> = {
  int64: BigInt,
  number: Number,
  text: (value) => value,
  time: (value) => new Date(value),
};

const storedReaders = storedFields.map((field) => ({
  field,
  read: readers[plantColumns[field].kind],
}));
