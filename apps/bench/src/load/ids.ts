/**
 * The ids of a load:
 * - `int64`: ids from the whole range of int64, in random order;
 * - `small`: 1, 2 and so on;
 * - `stored`: the ids of `million-plants.ts`, in random order, again and again.
 */
export type IdOrder = 'int64' | 'small' | 'stored';

export const storedPlants = 1_000_000;

/** 2^64 ÷ φ spreads the products below evenly. No two of them are equal, because this factor is odd. */
export const idFactor = 0x9e37_79b9_7f4a_7c15n;

/** Returns the nth id of a load as text, because JavaScript would round a number. */
export function nthId(order: IdOrder, n: number): string {
  if (order === 'small') return String(n);
  const row = order === 'stored' ? n % storedPlants : n + storedPlants;
  return String(BigInt.asIntN(64, BigInt(row) * idFactor));
}

/** Returns a function that gives each load the number of its first id. No two loads share an id. */
export function idAllocator(): () => number {
  const idsOfALoad = 1e8; // More ids than any load needs.
  let next = 1 - idsOfALoad;
  return () => (next += idsOfALoad);
}
