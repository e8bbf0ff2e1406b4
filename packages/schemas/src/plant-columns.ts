import type { StoredPlant } from './stored-plant.ts';

/** The kind of the values in a column. The type in the schema determines the kind. */
export type ColumnKind = keyof ValueByKind;

interface ValueByKind {
  int64: bigint;
  number: number;
  text: string;
  time: Date;
}

interface PlantColumn<Field extends keyof StoredPlant> {
  /** The column's name in the table and in files. */
  readonly name: string;
  readonly kind: {
    [Kind in ColumnKind]: StoredPlant[Field] extends ValueByKind[Kind] | undefined ? Kind : never;
  }[ColumnKind];
  /** Whether a plant may have no value in this column. */
  readonly isOptional: undefined extends StoredPlant[Field] ? true : false;
}

/**
 * The columns of the table `plants`. The type checker requires a column for each property of a stored plant.
 * The JSON of plants and the comparison of plants use this list, in its order.
 */
export const plantColumns = {
  id: { name: 'id', kind: 'int64', isOptional: false },
  name: { name: 'name', kind: 'text', isOptional: false },
  tag: { name: 'tag', kind: 'text', isOptional: true },
  createdAt: { name: 'created_at', kind: 'time', isOptional: false },
  updatedAt: { name: 'updated_at', kind: 'time', isOptional: true },
} as const satisfies { [Field in keyof StoredPlant]-?: PlantColumn<Field> };

/** The properties of a {@link Plant}. Plants with the same id and the same properties are equal. */
export const plantFields = Object.keys(plantColumns).filter(isPlantField);

export type PlantField = Exclude<keyof typeof plantColumns, 'id' | 'createdAt' | 'updatedAt'>;

function isPlantField(field: string): field is PlantField {
  return !['id', 'createdAt', 'updatedAt'].includes(field);
}

/** Reads a value from a text in a file or a form. An invalid number becomes NaN. The schema rejects NaN. */
export function columnValue(kind: ColumnKind, text: string): string | number {
  return kind === 'number' ? Number(text) : text;
}

/** Formats a value as text for a CSV file or for Postgres. */
export function columnText(value: string | number | bigint | Date): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
