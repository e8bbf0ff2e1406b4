/** The kind of ids that a load uses. */
export type IdOrder =
  /** Ids from the whole range of int64, in random order. */
  | 'int64'
  /** The ids 1, 2, 3 and so on. */
  | 'small'
  /** The ids of `million-plants.ts`, in random order, again and again. */
  | 'stored';

export const storedPlants = 1_000_000;

/** Multiples of 2^64 ÷ φ are evenly spread, and all differ, because the factor is odd. */
export const idFactor = 0x9e37_79b9_7f4a_7c15n;

/** Returns the nth id of a load as text, because JavaScript would round a number. */
export function nthId(order: IdOrder, n: number): string {
  if (order === 'small') return String(n);
  const row = order === 'stored' ? n % storedPlants : n + storedPlants;
  return String(BigInt.asIntN(64, BigInt(row) * idFactor));
}

/** Returns a function that returns the number of a load's first id. Two loads never share an id. */
export function idAllocator(): () => number {
  const idsOfALoad = 1e8; // Every load needs fewer ids than this number.
  let next = 1 - idsOfALoad;
  return () => (next += idsOfALoad);
}
