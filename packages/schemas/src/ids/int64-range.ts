/** The least and the greatest 64-bit signed integer, under JSON Schema's names. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

const { minimum, maximum } = int64Bounds;

/** The range of an id in words, for messages. */
export const int64Range = `from ${minimum} to ${maximum}`;

/** Whether an integer has at most 64 bits. */
export function isInt64(integer: bigint): boolean {
  return integer >= minimum && integer <= maximum;
}
