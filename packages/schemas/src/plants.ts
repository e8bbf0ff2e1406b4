import * as z from 'zod';
import { ErrorBody, int64, pageLimit, parameters, textOut, timeOut } from './fields.ts';
import { explainIdText, int64Range } from './ids.ts';
import { maxExactCount, maxNewPlants, maxSearch } from './operations.ts';
import { body, Int64, idDescription, idSchema, NewPlant, Plant, PlantText } from './plant.ts';

export const StoredPlant = z
  .object({
    id: int64.meta({ description: idDescription, examples: [4096] }),
    ...Plant.shape,
    createdAt: timeOut('When the plant was created, in UTC (RFC 3339)'),
    updatedAt: timeOut(
      'When the plant was replaced; absent when it never was',
      '2026-11-22T09:30:00.000Z',
    ).optional(),
  })
  .meta({ id: 'StoredPlant' });

/**
 * A stored plant with its ETag, which is another one after each replacement. Over REST, the ETag is a header,
 * and the body is a `StoredPlant`.
 */
export const PlantWithEtag = StoredPlant.extend({
  etag: textOut('The ETag of the plant, for `ifMatch`'),
}).meta({ title: 'PlantWithEtag' });

/** The input of a procedure that works on one plant. */
export const PlantIdInput = parameters({
  id: Int64.meta({ description: `${idDescription}, in plain decimal`, override: idSchema }),
});

/** The condition of a delete and of a replacement. Over REST, it is the header `If-Match`. */
const ifMatch = z
  .string({ error: 'must be an ETag' })
  .max(1_000, { error: 'must be an ETag' })
  .meta({
    description: 'Only if the plant still has this ETag',
    param: { in: 'header', name: 'If-Match' },
  })
  .optional();

/** The input of the procedure that deletes a plant. */
export const DeletePlant = PlantIdInput.safeExtend({ ifMatch });

/** The input of the procedure that replaces the name and the tag of a plant. */
export const ReplacePlant = body({
  id: PlantIdInput.shape.id,
  ...Plant.shape,
  ifMatch,
}).meta({ title: 'ReplacePlant' });

const tag = PlantText.meta({
  description: 'Only plants with exactly this tag',
  examples: ['Araceae'],
}).optional();

const searchLength = `must have 1 to ${maxSearch} characters`;

export const ListPlants = parameters({
  tag,
  search: PlantText.min(1, searchLength)
    .max(maxSearch, searchLength)
    .meta({
      description:
        'Only plants whose name contains each word of this text, in any order, in upper or lower case. A ' +
        'page may have fewer plants than `limit`, or none, although there is a next page.',
      examples: ['rush metasequoia'],
    })
    .optional(),
  after: z
    .custom<string | bigint | number>((after) => explainAfter(after) === undefined, {
      error: ({ input }) => explainAfter(input),
    })
    .meta({
      description: `Only plants behind this place: the \`next\` of the page before, or an id ${int64Range}`,
      override: { type: 'string', examples: ['4096'] },
    })
    .transform(BigInt)
    .optional(),
  limit: pageLimit('plants'),
}).prefault({}); // A caller over tRPC may omit the input.

/** Explains why a value is no `after`. Returns undefined for the text of an id, and for an id. */
function explainAfter(value: unknown): string | undefined {
  if (typeof value === 'string') return explainIdText(value);
  return Int64.safeParse(value).error?.issues[0]?.message;
}

export const PlantPage = z
  .object({
    plants: z.array(StoredPlant).meta({ description: 'Plants, ascending by id' }),
    next: textOut('The `after` of the next page; absent on the last page', '4096').optional(),
  })
  .meta({ id: 'PlantPage' });

export const CountPlants = parameters({ tag }).prefault({});

/** The number of plants that a query selects. */
export const PlantCount = z
  .object({
    count: z
      .int()
      .min(0)
      .max(maxExactCount)
      .meta({
        description: `How many plants there are, at most ${maxExactCount}`,
        examples: [208],
      }),
    isExact: z.boolean().meta({
      description: `Whether that is all of them; false when there are more than ${maxExactCount}`,
      examples: [true],
    }),
  })
  .meta({ id: 'PlantCount' });

/** Cuts a list to one plant more than the limit, so that the schema rejects a very long list quickly. */
const firstPlants = z.transform((plants: z.input<typeof NewPlant>[]) =>
  Array.isArray(plants) ? plants.slice(0, maxNewPlants + 1) : plants,
);

const size = { error: `must be a list of 1 to ${maxNewPlants} plants` };

/** The input of the procedure that creates several plants. */
export const NewPlants = body({
  plants: firstPlants
    .pipe(z.array(NewPlant, size).min(1, size).max(maxNewPlants, size))
    .meta({ description: 'The plants to create. Each one stands alone' }),
}).meta({ title: 'NewPlants' });

const id = int64.meta({ description: `The id of the plant, ${int64Range}`, examples: [4096] });

const CreatedPlant = z
  .object({
    id,
    result: z.enum(['created', 'exists']).meta({
      description: '`exists`: the same plant was in the store already',
      examples: ['created'],
    }),
  })
  .meta({ id: 'CreatedPlant' });

const CreateError = z
  .object({
    id,
    ...ErrorBody.shape,
    result: z.enum(['error']).meta({ description: 'Tells an error from a plant' }),
  })
  .meta({ id: 'CreateError' });

/** The result for one plant when a request creates several plants. */
export const CreateResult = z
  .discriminatedUnion('result', [CreatedPlant, CreateError])
  .meta({ id: 'CreateResult' });

const takenId = {
  id: 1,
  error: 40900,
  message: 'id 1 belongs to another plant: choose an id that is free',
  result: 'error' as const,
};

export const CreateResults = z
  .object({
    results: z.array(CreateResult).meta({
      description: 'What became of each plant, in the order of the request',
      examples: [[{ id: 4096, result: 'created' }, takenId]],
    }),
  })
  .meta({ id: 'CreateResults' });

export type StoredPlant = z.output<typeof StoredPlant>;
export type PlantWithEtag = z.output<typeof PlantWithEtag>;
export type PlantPage = z.output<typeof PlantPage>;
export type ListPlants = z.output<typeof ListPlants>;
export type CountPlants = z.output<typeof CountPlants>;
export type NewPlants = z.output<typeof NewPlants>;
export type CreateResult = z.output<typeof CreateResult>;
export type CreateResults = z.output<typeof CreateResults>;

/**
 * The properties of a stored plant, in the order of its JSON. The type checker requires a column of the table
 * `plants` for each property. `isOptional`: a plant may have no value.
 */
export const plantColumns = {
  id: { kind: 'int64', isOptional: false },
  name: { kind: 'text', isOptional: false },
  tag: { kind: 'text', isOptional: true },
  createdAt: { kind: 'time', isOptional: false },
  updatedAt: { kind: 'time', isOptional: true },
} as const satisfies { [Field in keyof StoredPlant]-?: PlantColumn<StoredPlant[Field]> };

interface PlantColumn<Value> {
  readonly kind: bigint extends Value ? 'int64' : Date extends Value ? 'time' : 'text' | 'number';
  readonly isOptional: undefined extends Value ? true : false;
}

/** The properties of a {@link Plant}. Plants with the same id and the same properties are equal. */
// The type of `Object.keys` is `string[]`, because TypeScript allows further keys.
export const plantFields = Object.keys(Plant.shape) as (keyof Plant)[];
