/**
 * Reads and writes ids of 64 bits in JSON. Copy this file into your program. `JSON.parse` rounds an integer
 * beyond ±(2^53 − 1), and `JSON.stringify` throws for a `bigint`. Needs Node 22, or a browser of
 * 2025.
 */

/** A reviver for `JSON.parse`, which makes each id of a response a `bigint`, digit for digit. */
export function exactIds(key: string, value: unknown, { source }: { source?: string } = {}) {
  // An older runtime passes no source text. `BigInt` then throws, so no id is rounded.
  return typeof value === 'number' && /^(id|next)$/.test(key) ? BigInt(source ?? '?') : value;
}

/** Writes JSON as `JSON.stringify` does, but also writes each digit of a `bigint`. */
export function formatExactly(body: unknown): string {
  return JSON.stringify(body, (_, value) =>
    typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
  );
}

/** A generated type in which each id is a `bigint`. */
export type ExactIds<T> = {
  [K in keyof T]: K extends 'id' | 'next' | 'after'
    ? T[K] extends number | undefined
      ? bigint
      : T[K]
    : ExactIds<T[K]>;
};

declare global {
  interface JSON {
    /** TypeScript does not declare this function yet. */
    rawJSON(text: string): unknown;
  }
}
