import * as z from 'zod';
import { Int64, int64Range, int64Schema, isInt64 } from './int64.ts';

const notWhole = 'must be a whole number';

/** Characters of the longest int64, with its sign. BigInt takes seconds for a million digits. */
const maxLength = 20;

/**
 * An id as text, read as a `bigint`: a form field, a CSV cell, a part of a path, a command's argument.
 *
 * Accepts a plain decimal only, such as `42` or `-5`. It rejects `007`, `+5`, `1e3`, `0x10`, spaces
 * and the empty text. The messages are for people.
 */
export const IdFromText = z
  .string({
    error: ({ input }) => (input === undefined ? `is missing: it ${notWhole}` : notWhole),
  })
  .regex(/^(0|-?[1-9]\d*)$/, { error: notWhole, abort: true })
  .refine((text) => text.length <= maxLength && isInt64(BigInt(text)), `must be ${int64Range}`)
  .transform(BigInt);

/**
 * An id in a procedure's input that REST reads from the path or the query.
 *
 * Over REST the id is text, which {@link IdFromText} reads. A caller over tRPC passes a `bigint` or a
 * safe-integer `number`, as for {@link Int64}. An OpenAPI document describes it as an int64.
 */
export const IdParameter = z
  // A transform, not a union: it has one message, and trpc-to-openapi does not coerce it.
  .custom<bigint | number>()
  .meta({ override: int64Schema })
  .transform((value: unknown, context) => {
    const { data, error } = (typeof value === 'string' ? IdFromText : Int64).safeParse(value);
    if (data !== undefined) return data;
    for (const { message } of error.issues) context.addIssue(message);
    return z.NEVER;
  });
