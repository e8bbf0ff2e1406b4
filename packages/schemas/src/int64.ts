import * as z from 'zod';

/** The least and the greatest 64-bit signed integer, as JSON Schema names them. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

const { minimum, maximum } = int64Bounds;

/** The range of an id in words, for messages. */
export const int64Range = `from ${minimum} to ${maximum}`;

/**
 * How an OpenAPI document describes an id. Its writer adds `int64Bounds`: zod and zod-openapi copy
 * schemas by JSON.stringify, which cannot write a `bigint`.
 */
export const int64Schema = { type: 'integer', format: 'int64' } as const;

/**
 * A 64-bit signed integer, −2^63 to 2^63−1, as a `bigint`.
 *
 * Accepts a `bigint` or a safe-integer `number` and coerces nothing else. It rejects a `number` beyond
 * ±(2^53−1), because JavaScript may already have rounded it.
 */
export const Int64 = z
  // A custom check has one message, and trpc-to-openapi does not coerce it as it would a union.
  .custom<bigint | number>(isIntegerOrBigint, { error: ({ input }) => explain(input) })
  .meta({ override: int64Schema })
  .transform(BigInt);

/** Whether an integer has at most 64 bits. */
export function isInt64(integer: bigint): boolean {
  return integer >= minimum && integer <= maximum;
}

function isIntegerOrBigint(value: unknown): boolean {
  return typeof value === 'bigint' ? isInt64(value) : Number.isSafeInteger(value);
}

function explain(input: unknown): string {
  if (input === undefined) return 'is missing: it must be an integer';
  const isUnsafe =
    typeof input === 'number' && Number.isInteger(input) && Math.abs(input) < 2 ** 63;
  return isUnsafe
    ? `must be a bigint, because a number beyond ±${Number.MAX_SAFE_INTEGER} is not exact`
    : `must be an integer ${int64Range}`;
}
