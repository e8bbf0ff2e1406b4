import * as z from 'zod';
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
  })
  .meta({ id: 'StoredPlant' });

export const PlantPage = z
  .object({
    plants: z.array(StoredPlant).meta({ description: 'Plants, ascending by id' }),
    next: int64
      .meta({
        description: `The \`after\` of the next page, ${int64Range}; absent on the last page`,
        examples: [4096],
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
            'Only plants whose name contains this text, in upper or lower case. A page may have fewer ' +
            'plants than `limit`, or none, although there is a next page.',
          examples: ['monst'],
        })
        .optional(),
      after: Int64.meta({
        description: `Only plants with greater ids, ${int64Range}: the \`next\` of the page before`,
        override: { ...int64Schema, examples: [4096] },
      }).optional(),
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
export type PlantPage = z.output<typeof PlantPage>;
export type PlantIdInput = z.output<typeof PlantIdInput>;
export type ListPlants = z.output<typeof ListPlants>;
export type CountPlants = z.output<typeof CountPlants>;
export type PlantCount = z.output<typeof PlantCount>;

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
