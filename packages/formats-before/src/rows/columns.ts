import { type ColumnKind, plantColumns } from '@plant-store/schemas/plain';

interface Column {
  /** The name of the column in files. */
  readonly name: string;
  readonly kind: ColumnKind;
  readonly isOptional: boolean;
}

/** The columns of plants in files. Each key is a property of a plant. */
export type Columns = Readonly<Record<string, Column>>;

/** A column, with the name of its property in a plant. */
export interface FileColumn extends Column {
  readonly field: string;
}

/** The store sets this property of a plant when the row contains no time. */
const createdAt = 'createdAt';

/** Returns the columns of a file. The console passes the columns that the user has chosen. */
export function fileColumns(columns: Columns = plantColumns): FileColumn[] {
  return Object.entries(columns).map(([field, column]) => ({ ...column, field }));
}

/** Returns the columns whose values `readPlants` reads. */
export function readColumns({
  columns,
  createdAt: times,
}: {
  columns?: Columns | undefined;
  createdAt?: 'keep' | 'now' | undefined;
}): FileColumn[] {
  return fileColumns(columns).filter(({ field }) => times !== 'now' || field !== createdAt);
}

/** Whether every row must have a value in the column. */
export function isRequired({ isOptional, field }: FileColumn): boolean {
  return !isOptional && field !== createdAt;
}

/** Returns all columns except the time. A person does not need to write the time into a file. */
export function writtenColumns(columns: Columns | undefined): FileColumn[] {
  return fileColumns(columns).filter(({ field }) => field !== createdAt);
}

/** Whether a lower-case name is the column's name in files or in the API. */
export function hasName({ name, field }: FileColumn, lowerCaseName: string): boolean {
  return name.toLowerCase() === lowerCaseName || field.toLowerCase() === lowerCaseName;
}
