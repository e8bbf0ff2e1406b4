import { Int64, int64Bounds, NewPlant, type Plant } from '@plant-store/schemas';
import { type PlantField, plantColumns, plantFields } from '@plant-store/schemas/plain';
import * as z from 'zod';
import { invalidInput, type PlantStoreError } from '../plant-store-error.ts';
import { timeText } from './time-text.ts';

/** A plant to load. An id of the type `number` is a safe integer, so the id is exact. */
export interface LoadedPlant extends Readonly<Plant> {
  readonly id: bigint | number;
  /** The creation time of the plant. Default: now. */
  readonly createdAt?: string | undefined;
}

const PlantToLoad = NewPlant.extend({
  id: Int64,
  createdAt: z
    .custom<unknown>((value) => timeText(value) !== undefined, {
      error: 'must be a time with its offset, such as 2026-11-01T09:30:00.123456Z',
    })
    .transform(timeText)
    .optional(),
});

/**
 * Returns the plant of an input for `load`, or the error `invalidInput`. The schema takes longer than all
 * other work on a plant, so the schema checks only unusual inputs.
 */
export function checkPlant(input: unknown): LoadedPlant | PlantStoreError {
  if (isPlain(input)) return input;
  const { data, error } = PlantToLoad.safeParse(input);
  return data ?? invalidInput(error);
}

function isPlain(input: unknown): input is LoadedPlant {
  if (typeof input !== 'object' || input === null) return false;
  const plant = input as Record<string, unknown>; // Any object can be read as a record.
  const { id, createdAt } = plant;
  return (
    isId(id) &&
    plantFields.every((field) => isPlainValue(field, plant[field])) &&
    timeText(createdAt) === createdAt
  );
}

function isId(id: unknown): boolean {
  if (typeof id === 'number') return Number.isSafeInteger(id);
  return typeof id === 'bigint' && id >= int64Bounds.minimum && id <= int64Bounds.maximum;
}

/** Whether Postgres can store a property's value as text. An optional property may have no value. */
function isPlainValue(field: PlantField, value: unknown): boolean {
  const { kind, isOptional } = plantColumns[field];
  if (value === undefined) return isOptional;
  return (
    kind === 'text' && typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
  );
}
