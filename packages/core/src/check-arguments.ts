import { CountPlants, Int64, ListPlantChanges, ListPlants } from '@plant-store/schemas';
import { maxPageSize } from '@plant-store/schemas/plain';
import * as z from 'zod';
import type { PlantFeed } from './changes/plant-feed.ts';
import { invalidInput } from './plant-store-error.ts';
import type { PlantReader } from './plants/plant-reader.ts';

type Reads = PlantReader & Pick<PlantFeed, 'changes' | 'follow'>;

/**
 * Makes the reading methods check their arguments, because a call from plain JavaScript can pass any value.
 * `openPlantReader` does not check arguments, so that a tool that only reads starts without zod.
 */
export function withCheckedArguments(reads: Reads): Reads {
  return {
    get: async (id, options) => reads.get(checkId(id), options),
    list: async (query, options) => reads.list(check(ListPlants, query), options),
    count: async (query) => reads.count(checkCount(query)),
    read: (query) => reads.read(check(Read, query)),
    changes: async (query, options) => reads.changes(check(Changes, query), options),
    follow: (options) => reads.follow(check(Follow, options)),
  };
}

// Each of these functions throws the PlantStoreError `invalidInput`.
export const checkId = (id: bigint) => check(Id, { id }).id;
export const checkLimit = (limit: number) => check(Limit, { limit }).limit;
export const checkCount = (query: unknown) => check(CountPlants, query);
export const checkDays = (days: number) => check(Days, { days }).days;

const Id = z.object({ id: Int64 });

const Limit = z.object({ limit: z.int({ error: 'must be an integer' }).min(0) });

const Days = z.object({ days: z.int32({ error: 'must be an integer' }).min(0) });

const { after, limit, tag } = ListPlantChanges.unwrap().shape;

/** The store's default for `limit` is higher than the default of the REST operation. */
const Changes = ListPlantChanges.unwrap()
  .extend({ limit: limit.unwrap().default(maxPageSize) })
  .prefault({});

/** The schema ignores other options, such as the signal. */
const Follow = z.looseObject({ after, tag }).optional();

const since = z.date({ error: 'must be a date' }).optional();

const isCount = (value: unknown) =>
  value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0);

const Read = z
  .strictObject({
    ...ListPlants.unwrap().shape,
    since,
    limit: z.custom<number>(isCount, 'must be an integer').default(Number.POSITIVE_INFINITY),
  })
  .optional();

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error) throw invalidInput(error);
  return data;
}
