import * as z from 'zod';
import { explainIdText } from './explain-id-text.ts';
import { int64Range, isInt64 } from './int64-range.ts';

/**
 * Describes an id in an OpenAPI document. JavaScript would round the bounds of int64, so the description of
 * each id contains the bounds as text.
 */
export const int64Schema = { type: 'integer', format: 'int64' } as const;

/**
 * A 64-bit signed integer, −2^63 to 2^63−1, as a `bigint`.
 *
 * Accepts a `bigint` or a safe-integer `number`, and converts no other value. Rejects a `number` beyond
 * ±(2^53−1), because JavaScript may already have rounded the number.
 */
export const Int64 = z
  // A union of both types would give each error two messages, and trpc-to-openapi would convert the input.
  .custom<bigint | number>(isIntegerOrBigint, { error: ({ input }) => explain(input) })
  .meta({ override: int64Schema })
  .transform(BigInt);

function isIntegerOrBigint(value: unknown): boolean {
  return typeof value === 'bigint' ? isInt64(value) : Number.isSafeInteger(value);
}

function explain(input: unknown): string {
  if (input === undefined) return 'is missing: it must be an integer';
  const isUnsafe =
    typeof input === 'number' && Number.isInteger(input) && Math.abs(input) < 2 ** 63;
  return isUnsafe
    ? `must be a bigint, because a number beyond ±${Number.MAX_SAFE_INTEGER} is not exact`
    : `must be an integer ${int64Range}${isQuotedId(input) ? ': send it without quotes' : ''}`;
}

function isQuotedId(input: unknown): boolean {
  return typeof input === 'string' && explainIdText(input) === undefined;
}
