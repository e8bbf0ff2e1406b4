/** The smallest and the largest 64-bit signed integer. JSON Schema uses the same property names. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

const { minimum, maximum } = int64Bounds;

/** Describes the range of an id in error messages and in the OpenAPI document. */
export const int64Range = `from ${minimum} to ${maximum}`;

/** Whether an integer is in the range of int64. */
export function isInt64(integer: bigint): boolean {
  return integer >= minimum && integer <= maximum;
}

/** Returns the id that a text contains, or undefined for a text that is not an id. */
export function readIdText(text: string): bigint | undefined {
  return explainIdText(text) === undefined ? BigInt(text) : undefined;
}

/**
 * Explains to a person why a text is not an id. Returns undefined for an id. An id is a plain decimal such as
 * `42` or `-5`. The texts `007`, `+5`, `1e3`, `0x10` and the empty text are not ids.
 */
export function explainIdText(text: string): string | undefined {
  if (!integerPattern.test(text)) return notWhole;
  const isInRange = text.length <= maxLength && isInt64(BigInt(text));
  return isInRange ? undefined : `must be ${int64Range}`;
}

/** Matches a whole number in plain decimal. */
export const integerPattern = /^(0|-?[1-9]\d*)$/;

export const notWhole = 'must be a whole number';

/** The length of the longest int64 with its sign. BigInt takes seconds for a text of a million digits. */
const maxLength = 20;
