import * as z from 'zod';
import { Int64 } from './int64.ts';

/** Any text that Postgres can store: Postgres rejects U+0000 and lone surrogates. */
const text = z
  .string({
    error: ({ input }) => `${input === undefined ? 'is missing: it ' : ''}must be a string`,
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about U+0000.
  .regex(/^[^\u0000\uD800-\uDFFF]*$/u, 'must not contain U+0000 or a lone surrogate');

/** The reply to a create. */
export const Plant = z
  .object({
    name: text.meta({ description: 'The name of the plant', examples: ['Monstera deliciosa'] }),
    tag: text
      .meta({ description: 'Tag that specifies the type of the plant', examples: ['Araceae'] })
      .optional(),
  })
  .meta({ id: 'Plant' });

/** The body of a create: a {@link Plant} with its id. */
export const NewPlant = z
  .object(
    {
      id: Int64.meta({ description: 'Identification number of the plant', examples: [1] }),
      ...Plant.shape,
    },
    { error: 'must be an object' },
  )
  .meta({ title: 'NewPlant' });

export type Plant = z.output<typeof Plant>;
export type NewPlant = z.output<typeof NewPlant>;
