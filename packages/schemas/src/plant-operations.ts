import * as z from 'zod';
import { ErrorBody, idOut, pageLimit, parameters, textOut, timeOut } from './fields.ts';
import { int64Range } from './integers.ts';
import { maxExactCount, maxNewPlants, maxSearch } from './limits.ts';
import { body, IdFromText, Int64, idIn, NameOrTag, NewPlant, output, Plant } from './plant.ts';

/** A plant in the store. */
export const StoredPlant = output('StoredPlant', {
  id: idOut(),
  ...Plant.shape,
  createdAt: timeOut('When the plant was created, in UTC (RFC 3339)'),
  updatedAt: timeOut('When the plant was replaced; absent when it never was').optional(),
});

/**
 * A stored plant with its ETag, which changes with each replacement. Over REST, the ETag is a header,
 * and the body is a `StoredPlant`.
 */
export const PlantWithEtag = StoredPlant.extend({
  etag: textOut('The ETag of the plant, for `ifMatch`'),
}).meta({ title: 'PlantWithEtag' });

/** The input of a procedure that works on one plant. */
export const PlantIdInput = parameters({ id: idIn(', in plain decimal') });

const notEtag = { error: 'must be an ETag' };

/** The condition of a delete or a replacement. Over REST, the condition is the header `If-Match`. */
const ifMatch = z
  .string(notEtag)
  .max(1_000, notEtag)
  .meta({
    description: 'Only if the plant still has this ETag',
    param: { in: 'header', name: 'If-Match' },
  })
  .optional();

export const DeletePlant = PlantIdInput.safeExtend({ ifMatch });

export const ReplacePlant = body({
  ...PlantIdInput.shape,
  ...Plant.shape,
  ifMatch,
}).meta({ title: 'ReplacePlant' });

const tag = NameOrTag.meta({
  description: 'Only plants with exactly this tag',
  examples: ['Araceae'],
}).optional();

const searchLength = `must have 1 to ${maxSearch} characters`;

export const ListPlants = parameters({
  tag,
  search: NameOrTag.min(1, searchLength)
    .max(maxSearch, searchLength)
    .meta({
      description:
        'Only plants whose name contains each word of this text, in any order, in upper or lower case. A ' +
        'page may have fewer plants than `limit`, or none, although there is a next page.',
      examples: ['rush metasequoia'],
    })
    .optional(),
  // A union would give each error two messages, and the OpenAPI document two types.
  after: z
    .custom<string | bigint | number>(
      (after) => (typeof after === 'string' ? IdFromText : Int64).safeParse(after).success,
      `must be the \`next\` of a page, or an integer ${int64Range}`,
    )
    .meta({
      description: `Only plants after this place: the \`next\` of the page before, or an id ${int64Range}`,
      override: { type: 'string', examples: ['4096'] },
    })
    .transform(BigInt)
    .optional(),
  limit: pageLimit('plants'),
}).prefault({}); // A caller over tRPC may omit the input.

export const PlantPage = output('PlantPage', {
  plants: z.array(StoredPlant).meta({ description: 'Plants, ascending by id' }),
  next: textOut('The `after` of the next page; absent on the last page', '4096').optional(),
});

export const CountPlants = parameters({ tag }).prefault({});

export const PlantCount = output('PlantCount', {
  count: z
    .int()
    .min(0)
    .max(maxExactCount)
    .meta({ description: `The number of plants, at most ${maxExactCount}` }),
  isExact: z.boolean().meta({
    description: `Whether \`count\` includes all plants; false with more than ${maxExactCount} plants`,
  }),
});

/** Cuts a list to one plant more than the limit, so that the schema rejects a very long list quickly. */
const firstPlants = z.transform((plants: z.input<typeof NewPlant>[]) =>
  Array.isArray(plants) ? plants.slice(0, maxNewPlants + 1) : plants,
);

const size = { error: `must be a list of 1 to ${maxNewPlants} plants` };

/** The input of the procedure that creates several plants. */
export const NewPlants = body({
  plants: firstPlants
    .pipe(z.array(NewPlant, size).min(1, size).max(maxNewPlants, size))
    .meta({ description: 'The plants to create. Each plant has its own result' }),
}).meta({ title: 'NewPlants' });

const id = idOut(`The id of the plant, ${int64Range}`);

const CreatedPlant = output('CreatedPlant', {
  id,
  result: z
    .enum(['created', 'exists'])
    .meta({ description: '`exists`: the same plant was in the store already' }),
});

const CreateError = output('CreateError', {
  id,
  ...ErrorBody.shape,
  result: z.enum(['error']).meta({ description: 'Tells an error from a plant' }),
});

/** The result for one plant when a request creates several plants. */
export const CreateResult = z
  .discriminatedUnion('result', [CreatedPlant, CreateError])
  .meta({ id: 'CreateResult' });

export const CreateResults = output('CreateResults', {
  results: z.array(CreateResult).meta({
    description: 'The result of each plant, in the order of the request',
  }),
});

export type StoredPlant = z.output<typeof StoredPlant>;
export type PlantWithEtag = z.output<typeof PlantWithEtag>;
export type PlantPage = z.output<typeof PlantPage>;
export type ListPlants = z.output<typeof ListPlants>;
export type CountPlants = z.output<typeof CountPlants>;
export type PlantCount = z.output<typeof PlantCount>;
export type CreateResult = z.output<typeof CreateResult>;
