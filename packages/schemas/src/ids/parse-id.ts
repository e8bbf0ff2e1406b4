import * as z from 'zod';
import { explainIdText, integerPattern, notWhole } from './explain-id-text.ts';

/** A whole number as text. The schema accepts only a plain decimal, such as `42` or `-5`. */
export const IntegerText = z
  .string({
    error: ({ input }) => (input === undefined ? `is missing: it ${notWhole}` : notWhole),
  })
  .regex(integerPattern, { error: notWhole, abort: true });

/**
 * Parses the text of an id to a `bigint`. The text can be a form field, a CSV cell, a part of a path or an
 * argument. Accepts only a plain decimal, such as `42` or `-5`. Rejects `007`, `+5`, `1e3`, `0x10`, spaces
 * and the empty text. The messages are for people, not for programs.
 */
export const IdFromText = IntegerText.refine((text) => explainIdText(text) === undefined, {
  error: ({ input }) => explainIdText(String(input)),
}).transform(BigInt);
