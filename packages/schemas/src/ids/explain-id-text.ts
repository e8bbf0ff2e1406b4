import { int64Range, isInt64 } from './int64-range.ts';

/** A whole number in plain decimal, such as `42` or `-5`. */
export const integerPattern = /^(0|-?[1-9]\d*)$/;

export const notWhole = 'must be a whole number';

/** Characters of the longest int64, with its sign. The limit is for speed: BigInt takes seconds for a million digits. */
const maxLength = 20;

/**
 * Explains to a person why a text is not an id; undefined when it is one. An id is a plain decimal such as
 * `42` or `-5`, and not `007`, `+5`, `1e3`, `0x10` or the empty text.
 */
export function explainIdText(text: string): string | undefined {
  if (!integerPattern.test(text)) return notWhole;
  const isInRange = text.length <= maxLength && isInt64(BigInt(text));
  return isInRange ? undefined : `must be ${int64Range}`;
}
