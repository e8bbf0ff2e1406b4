import { int64Range, isInt64 } from './int64-range.ts';

/** A whole number in plain decimal, such as `42` or `-5`. */
export const integerPattern = /^(0|-?[1-9]\d*)$/;

export const notWhole = 'must be a whole number';

/** The length of the longest int64 with its sign. BigInt takes seconds for a text of a million digits. */
const maxLength = 20;

/**
 * Explains to a person why a text is not an id. Returns undefined for an id. An id is a plain decimal such as
 * `42` or `-5`. The texts `007`, `+5`, `1e3`, `0x10` and the empty text are not ids.
 */
export function explainIdText(text: string): string | undefined {
  if (!integerPattern.test(text)) return notWhole;
  const isInRange = text.length <= maxLength && isInt64(BigInt(text));
  return isInRange ? undefined : `must be ${int64Range}`;
}

/** Returns the id that a text contains, or undefined for a text that is not an id. */
export function readIdText(text: string): bigint | undefined {
  return explainIdText(text) === undefined ? BigInt(text) : undefined;
}
