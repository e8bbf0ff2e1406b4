import * as z from 'zod';
import { explainIdText } from './ids/explain-id-text.ts';
import { Int64, int64Schema } from './ids/int64.ts';
import { int64Range } from './ids/int64-range.ts';
import { defaultPageSize, maxExactCount, maxPageSize, maxSearch } from './limits.ts';
import { integerBetween, Plant, PlantText } from './plant.ts';
import { shorten } from './shorten.ts';

/** An int64 in a response. */
export const int64 = z.bigint().meta({ override: int64Schema });

export const StoredPlant = z
  .object({
    id: int64.meta({
      description: `Identification number of the plant, ${int64Range}`,
      examples: [4096],
    }),
    ...Plant.shape,
    createdAt: z.date().meta({
      description: 'When the plant was created, in UTC (RFC 3339)',
      override: { type: 'string', format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] },
    }),
    updatedAt: z
      .date()
      .meta({
        description: 'When the plant was replaced; absent when it never was',
        override: { type: 'string', format: 'date-time', examples: ['2026-11-22T09:30:00.000Z'] },
      })
      .optional(),
  })
  .meta({ id: 'StoredPlant' });

/**
 * A stored plant with its ETag, which is another one after each replacement. Over REST, the ETag is a header,
 * and the body is a `StoredPlant`.
 */
export const PlantWithEtag = StoredPlant.extend({
  etag: z.string().meta({ description: 'The ETag of the plant, for `ifMatch`' }),
}).meta({ title: 'PlantWithEtag' });

export const PlantPage = z
  .object({
    plants: z.array(StoredPlant).meta({ description: 'Plants, ascending by id' }),
    next: z
      .string()
      .meta({
        description: 'The `after` of the next page; absent on the last page',
        examples: ['4096'],
      })
      .optional(),
  })
  .meta({ id: 'PlantPage' });

/** The input of a procedure that works on one plant. */
export const PlantIdInput = z.strictObject(
  {
    id: Int64.meta({
      description: `Identification number of the plant, in plain decimal, ${int64Range}`,
      override: { ...int64Schema, examples: [4096] },
    }),
  },
  { error: unknownParameters },
);

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
export const ReplacePlant = z
  .object({ id: PlantIdInput.shape.id, ...Plant.shape, ifMatch }, { error: 'must be an object' })
  .meta({ title: 'ReplacePlant' });

const searchLength = `must have 1 to ${maxSearch} characters`;

export const ListPlants = z
  .strictObject(
    {
      tag: PlantText.meta({
        description: 'Only plants with exactly this tag',
        examples: ['Araceae'],
      }).optional(),
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
        .custom<string | bigint | number>(isIdOrText, { error: ({ input }) => explainAfter(input) })
        .meta({
          description: `Only plants behind this place: the \`next\` of the page before, or an id ${int64Range}`,
          override: { type: 'string', examples: ['4096'] },
        })
        .transform(BigInt)
        .optional(),
      limit: integerBetween(1, maxPageSize)
        .default(defaultPageSize)
        .meta({ description: 'How many plants to return, at most', examples: [100] }),
    },
    { error: unknownParameters },
  )
  .prefault({}); // A caller over tRPC may omit the input.

export const CountPlants = z
  .strictObject({ tag: ListPlants.unwrap().shape.tag }, { error: unknownParameters })
  .prefault({});

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

export type StoredPlant = z.output<typeof StoredPlant>;
export type PlantWithEtag = z.output<typeof PlantWithEtag>;
export type PlantPage = z.output<typeof PlantPage>;
export type PlantIdInput = z.output<typeof PlantIdInput>;
export type ListPlants = z.output<typeof ListPlants>;
export type CountPlants = z.output<typeof CountPlants>;
export type PlantCount = z.output<typeof PlantCount>;

function isIdOrText(value: unknown): boolean {
  return explainAfter(value) === undefined;
}

/** Explains why a value is no `after`. Returns undefined for the text of an id, and for an id. */
function explainAfter(value: unknown): string | undefined {
  if (typeof value === 'string') return explainIdText(value);
  return Int64.safeParse(value).error?.issues[0]?.message;
}

/** Makes the error message for an input that is not an object or has an unknown property. */
export function unknownParameters(issue: { code?: string; keys?: string[] }): string {
  if (issue.code !== 'unrecognized_keys') return 'must be an object';
  const { keys = [] } = issue;
  const named = keys.slice(0, maxKeys).map((key) => JSON.stringify(shorten(key)));
  const more = keys.length - named.length;
  return `has no parameter ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** An error names at most this number of unknown parameters. */
const maxKeys = 3;
