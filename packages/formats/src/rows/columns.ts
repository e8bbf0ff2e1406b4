import { type ColumnKind, plantColumns } from '@plant-store/schemas/plain';

interface Column {
  /** Its name in files. */
  readonly name: string;
  readonly kind: ColumnKind;
  readonly isOptional: boolean;
}

/** The columns of plants in files, by the property of a plant. */
export type Columns = Readonly<Record<string, Column>>;

/** A column, and the property of a plant that it holds. */
export interface FileColumn extends Column {
  readonly field: string;
}

/** The property that the store sets when a plant has none. */
const createdAt = 'createdAt';

/**
 * The columns of a file.
 *
 * @param columns by default those of the store; a test passes others
 */
export function fileColumns(columns: Columns = plantColumns): FileColumn[] {
  return Object.entries(columns).map(([field, column]) => ({ ...column, field }));
}

/** The columns whose values are read. */
export function readColumns({
  columns,
  createdAt: times,
}: {
  columns?: Columns | undefined;
  createdAt?: 'keep' | 'now' | undefined;
}): FileColumn[] {
  return fileColumns(columns).filter(({ field }) => times !== 'now' || field !== createdAt);
}

/** Whether every row needs the column. */
export function isRequired({ isOptional, field }: FileColumn): boolean {
  return !isOptional && field !== createdAt;
}

/** The columns that a person writes, in a file without times. */
export function writtenColumns(columns: Columns | undefined): FileColumn[] {
  return fileColumns(columns).filter(({ field }) => field !== createdAt);
}

/** Whether a header's name, in lower case, is that of a column in files or over the API. */
export function hasName({ name, field }: FileColumn, lowerCaseName: string): boolean {
  return name.toLowerCase() === lowerCaseName || field.toLowerCase() === lowerCaseName;
}

/** A plant without values. Copies of it have the same hidden class in V8, which makes them fast. */
export function emptyPlant(columns: Columns | undefined): Readonly<Record<string, undefined>> {
  return Object.fromEntries(fileColumns(columns).map(({ field }) => [field, undefined]));
}
