/** The smallest and the largest 64-bit signed integer. JSON Schema uses the same property names. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

/** Describes the range of an id in error messages and in the OpenAPI document. */
export const int64Range = `from ${int64Bounds.minimum} to ${int64Bounds.maximum}`;

/** Whether an integer is in the range of int64. */
export function isInt64(integer: bigint): boolean {
  return integer >= int64Bounds.minimum && integer <= int64Bounds.maximum;
}

/** Matches a whole number in plain decimal. */
export const integerPattern = /^(0|-?[1-9]\d*)$/;

export const notWhole = 'must be a whole number';

/**
 * Reads an id from a text of a person: a form field, a CSV cell, a part of a path or an argument. An id is a
 * plain decimal, such as `42` or `-5`. The texts `007`, `+5`, `1e3`, `0x10`, spaces and the empty text are not
 * ids. This function needs no zod, which a web page loads late.
 */
export function readId(text: string): { id?: bigint; error?: string } {
  if (!integerPattern.test(text)) return { error: notWhole };
  // BigInt takes seconds for a text of a million digits. The longest int64 has 20 characters.
  const isId = text.length <= 20 && isInt64(BigInt(text));
  return isId ? { id: BigInt(text) } : { error: `must be ${int64Range}` };
}
