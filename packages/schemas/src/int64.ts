import * as z from 'zod';

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;

/**
 * A 64-bit signed integer, −2^63 to 2^63−1, as a `bigint`.
 *
 * Accepts a `bigint` or a safe-integer `number` and coerces nothing else. It rejects a `number` beyond
 * ±(2^53−1), because JavaScript may already have rounded it.
 */
export const Int64 = z
  // A custom check has one message, and trpc-to-openapi does not coerce it as it would a union.
  .custom<bigint | number>(isInt64, { error: ({ input }) => explain(input) })
  .meta({ override: { type: 'integer', format: 'int64' } })
  .transform(BigInt);

function isInt64(value: unknown): boolean {
  return typeof value === 'bigint' ? value >= min && value <= max : Number.isSafeInteger(value);
}

function explain(input: unknown): string {
  if (input === undefined) return 'is missing: it must be an integer';
  const isUnsafe =
    typeof input === 'number' && Number.isInteger(input) && Math.abs(input) < 2 ** 63;
  return isUnsafe
    ? `must be a bigint, because a number beyond ±${Number.MAX_SAFE_INTEGER} is not exact`
    : `must be an integer from ${min} to ${max}`;
}
