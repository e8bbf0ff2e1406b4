/** The smallest and the largest 64-bit signed integer. JSON Schema uses the same property names. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

const { minimum, maximum } = int64Bounds;

/** Describes the range of an id in error messages. */
export const int64Range = `from ${minimum} to ${maximum}`;

/** Whether an integer is in the range of int64. */
export function isInt64(integer: bigint): boolean {
  return integer >= minimum && integer <= maximum;
}
