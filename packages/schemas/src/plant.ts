import * as z from 'zod';
import { int64Range, integerPattern, isInt64, notWhole, readId } from './integers.ts';

// A web page that checks plants, such as the import of the console, needs only the schemas in this file.

/** Makes the schema of a JSON body. The schema ignores unknown properties. */
export function body<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape, { error: 'must be an object' });
}

/** Makes the schema of an object in a response. The OpenAPI document names the schema by this `id`. */
export function output<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.object(shape).meta({ id });
}

/**
 * A 64-bit signed integer, −2^63 to 2^63−1, as a `bigint`.
 *
 * Accepts only a `bigint` or a safe-integer `number`. Rejects a `number` beyond ±(2^53−1), because JavaScript
 * may already have rounded the number.
 */
export const Int64 = z
  // A union of both types would give each error two messages, and trpc-to-openapi would convert the input.
  .custom<bigint | number>(
    (value) => (typeof value === 'bigint' ? isInt64(value) : Number.isSafeInteger(value)),
    { error: ({ input }) => explainInt64(input) },
  )
  // JavaScript would round the bounds of int64, so OpenAPI has the bounds only in descriptions.
  .meta({ override: { type: 'integer', format: 'int64' } })
  .transform(BigInt);

function explainInt64(input: unknown): string {
  if (input === undefined) return 'is missing: it must be an integer';
  if (typeof input === 'number' && Number.isInteger(input) && Math.abs(input) < 2 ** 63) {
    return `must be a bigint, because a number beyond ±${Number.MAX_SAFE_INTEGER} is not exact`;
  }
  const isQuoted = typeof input === 'string' && !readId(input).error;
  return `must be an integer ${int64Range}${isQuoted ? ': send it without quotes' : ''}`;
}

export const idDescription = `Identification number of the plant, ${int64Range}`;

/** The id of a plant in an input. */
export function idIn(detail: string) {
  return Int64.meta({
    description: `${idDescription}${detail}`,
    // zod omits the examples of a schema that transforms its input.
    override: { type: 'integer', format: 'int64', examples: [4096] },
  });
}

/** The error of a required text. */
const required = (rule: string) => ({
  error: ({ input }: { input?: unknown }) =>
    input === undefined ? `is missing: it ${rule}` : rule,
});

/** A whole number as text. The schema accepts only a plain decimal, such as `42` or `-5`. */
export const IntegerText = z
  .string(required(notWhole))
  .regex(integerPattern, { error: notWhole, abort: true });

/** Converts the text of an id to a `bigint`, like `readId`. */
export const IdFromText = IntegerText.refine((text) => !readId(text).error, {
  error: `must be ${int64Range}`,
}).transform(BigInt);

/** A name or a tag can be any text that Postgres can store. Postgres rejects U+0000 and lone surrogates. */
export const NameOrTag = z
  .string(required('must be a string'))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about U+0000.
  .regex(/^[^\u0000\uD800-\uDFFF]*$/u, 'must not contain U+0000 or a lone surrogate')
  // A pattern needs the flag `u` to match lone surrogates, but OpenAPI has no flags. The OpenAPI pattern
  // therefore rejects only U+0000. The descriptions of the properties mention lone surrogates.
  .meta({ override: { pattern: '^[^\\x00]*$' } });

const anyText = 'Any text, emoji included, except U+0000 and lone surrogates.';

/** The content of a plant, which is also the response to a create. */
export const Plant = output('Plant', {
  name: NameOrTag.meta({
    description: `The name of the plant. ${anyText}`,
    examples: ['Monstera deliciosa'],
  }),
  tag: NameOrTag.meta({
    description: `Tag that specifies the type of the plant. ${anyText}`,
    examples: ['Araceae'],
  }).optional(),
});

/** The body of a request that creates a plant: a {@link Plant} with an id. */
export const NewPlant = body({
  id: idIn('. The client chooses the id'),
  ...Plant.shape,
}).meta({ title: 'NewPlant' });

export type Plant = z.output<typeof Plant>;
export type NewPlant = z.output<typeof NewPlant>;
