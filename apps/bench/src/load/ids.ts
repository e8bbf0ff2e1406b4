/** The kind of ids that a load uses. */
export type IdOrder =
  /** Ids from the whole range of int64, in random order. */
  | 'int64'
  /** The ids 1, 2, 3 and so on. */
  | 'small'
  /** The ids of `million-plants.ts`, in random order. A longer load starts again at the first id. */
  | 'stored';

export const storedPlants = 1_000_000;

/**
 * Ids are multiples of this factor, modulo 2^64. The factor is 2^64 ÷ φ, so the ids are evenly spread. The
 * factor is odd, so all ids differ.
 */
export const idFactor = 0x9e37_79b9_7f4a_7c15n;

/** Returns the nth id of a load as text, because JavaScript would round a number. */
export function nthId(order: IdOrder, n: number): string {
  if (order === 'small') return String(n);
  const row = order === 'stored' ? n % storedPlants : n + storedPlants;
  return String(BigInt.asIntN(64, BigInt(row) * idFactor));
}

const idsOfALoad = 1e8; // No load needs as many ids, so two loads never share an id.
let loads = 0;

/** Reserves ids for a load. Returns the number of the first id. */
export function allocateIds(): number {
  return 1 + idsOfALoad * loads++;
}
