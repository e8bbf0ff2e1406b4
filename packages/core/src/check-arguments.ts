import { Int64, ListPlantChanges } from '@plant-store/schemas';
import { isInt64, maxPageSize } from '@plant-store/schemas/plain';
import * as z from 'zod';
import { invalidInput } from './plant-store-error.ts';

// Each of these functions throws the PlantStoreError `invalidInput`.
export const checkId = (id: bigint) =>
  typeof id === 'bigint' && isInt64(id) ? id : check(Id, { id }).id;
export const checkLimit = (limit: number) => check(Limit, { limit }).limit;
export const checkDays = (days: number) => check(Days, { days }).days;

const Id = z.object({ id: Int64 });
const Limit = z.object({ limit: z.int({ error: 'must be an integer' }).min(0) });
const Days = z.object({ days: z.int32({ error: 'must be an integer' }).min(0) });

const { after, limit } = ListPlantChanges.unwrap().shape;

/** The store's default for `limit` is higher than the default of the REST operation. */
export const Changes = ListPlantChanges.unwrap()
  .extend({ limit: limit.unwrap().default(maxPageSize) })
  .prefault({});

/** The schema ignores other options, such as the signal. */
export const Follow = z.looseObject({ after }).optional();

/** @throws PlantStoreError `invalidInput` */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error) throw invalidInput(error);
  return data;
}
