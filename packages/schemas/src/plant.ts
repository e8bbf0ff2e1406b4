import * as z from 'zod';
import { Int64, int64Schema } from './ids/int64.ts';
import { int64Range } from './ids/int64-range.ts';

/** A name or a tag can be any text that Postgres can store. Postgres rejects U+0000 and lone surrogates. */
export const PlantText = z
  .string({
    error: ({ input }) => `${input === undefined ? 'is missing: it ' : ''}must be a string`,
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about U+0000.
  .regex(/^[^\u0000\uD800-\uDFFF]*$/u, 'must not contain U+0000 or a lone surrogate')
  // A pattern needs the flag `u` to match lone surrogates, but OpenAPI has no flags. The OpenAPI pattern
  // therefore rejects only U+0000. The descriptions of the properties mention lone surrogates.
  .meta({ override: { pattern: '^[^\\x00]*$' } });

/** Makes a schema for an integer in a range. All errors of the schema have the same message. */
export function integerBetween(min: number, max: number) {
  const error = `must be an integer from ${min} to ${max}`;
  // Beyond ±(2^53−1), the range would repeat the message of the first check.
  return z.int({ error, abort: true }).min(min, { error }).max(max, { error });
}

const anyText = 'Any text, emoji included, except U+0000 and lone surrogates.';

/** The response when a client creates a plant. */
export const Plant = z
  .object({
    name: PlantText.meta({
      description: `The name of the plant. ${anyText}`,
      examples: ['Monstera deliciosa'],
    }),
    tag: PlantText.meta({
      description: `Tag that specifies the type of the plant. ${anyText}`,
      examples: ['Araceae'],
    }).optional(),
  })
  .meta({ id: 'Plant' });

/** The body of a request that creates a plant: a {@link Plant} with an id. */
export const NewPlant = z
  .object(
    {
      id: Int64.meta({
        description: `Identification number of the plant, ${int64Range}. The client chooses the id`,
        // zod omits the examples of a schema that transforms its input.
        override: { ...int64Schema, examples: [4096] },
      }),
      ...Plant.shape,
    },
    { error: 'must be an object' },
  )
  .meta({ title: 'NewPlant' });

export type Plant = z.output<typeof Plant>;
export type NewPlant = z.output<typeof NewPlant>;
