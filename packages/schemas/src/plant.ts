import * as z from 'zod';
import { Int64, int64Schema } from './ids/int64.ts';

/** A name or a tag: any text that Postgres can store. Postgres rejects U+0000 and lone surrogates. */
export const PlantText = z
  .string({
    error: ({ input }) => `${input === undefined ? 'is missing: it ' : ''}must be a string`,
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about U+0000.
  .regex(/^[^\u0000\uD800-\uDFFF]*$/u, 'must not contain U+0000 or a lone surrogate')
  // The document's own pattern means the same without the flag `u` and in every other language.
  // Lone surrogates cannot be named without that flag; the description names them.
  .meta({ override: { pattern: '^[^\\x00]*$' } });

const anyText = 'Any text, emoji included, except U+0000 and lone surrogates.';

/** The reply to a create. */
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

/** The body of a create: a {@link Plant} with its id. */
export const NewPlant = z
  .object(
    {
      id: Int64.meta({
        description: 'Identification number of the plant, which the client chooses',
        // zod leaves the examples of a schema that transforms its input out of the document.
        override: { ...int64Schema, examples: [4096] },
      }),
      ...Plant.shape,
    },
    { error: 'must be an object' },
  )
  .meta({ title: 'NewPlant' });

export type Plant = z.output<typeof Plant>;
export type NewPlant = z.output<typeof NewPlant>;
