import * as z from 'zod';
import { int64Range, isInt64 } from './int64.ts';

const notWhole = 'must be a whole number';

/** Characters of the longest int64, with its sign. BigInt takes seconds for a million digits. */
const maxLength = 20;

/** A whole number as text. It accepts a plain decimal only, such as `42` or `-5`. */
export const IntegerText = z
  .string({
    error: ({ input }) => (input === undefined ? `is missing: it ${notWhole}` : notWhole),
  })
  .regex(/^(0|-?[1-9]\d*)$/, { error: notWhole, abort: true });

/**
 * An id as text, read as a `bigint`: a form field, a CSV cell, a part of a path, a command's argument.
 *
 * Accepts a plain decimal only, such as `42` or `-5`. It rejects `007`, `+5`, `1e3`, `0x10`, spaces
 * and the empty text. The messages are for people.
 */
export const IdFromText = IntegerText.refine(
  (text) => text.length <= maxLength && isInt64(BigInt(text)),
  `must be ${int64Range}`,
).transform(BigInt);
