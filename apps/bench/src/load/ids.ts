/**
 * `int64`: ids spread over all of int64, in random order. `small`: 1, 2 and so on. `stored`: the ids of the million
 * plants of `million-plants.ts`, in random order, repeatedly.
 */
export type IdOrder = 'int64' | 'small' | 'stored';

export const storedPlants = 1_000_000;

/** This factor is odd, so no two of the products below are equal. It spreads them evenly: 2^64 ÷ φ. */
export const idFactor = 0x9e37_79b9_7f4a_7c15n;

/** The nth id of a load, as text: JavaScript would round it. */
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
