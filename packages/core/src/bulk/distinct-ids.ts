import type { LoadedPlant } from './loaded-plant.ts';

/**
 * Finds the first plant of each id, and the plants that repeat an id. Both results are sorted by id. Postgres
 * accepts an id only once in an INSERT. Two INSERTs with equal ids in different orders can deadlock.
 *
 * @param places the indexes of the plants in `plants`. The results contain the same indexes.
 */
export function splitByDistinctId(
  plants: readonly Pick<LoadedPlant, 'id'>[],
  places: readonly number[],
): { first: number[]; repeated: number[] } {
  const idAt = (place: number | undefined) => plants[place ?? -1]?.id ?? 0;
  const sorted = places.toSorted((a, b) => compareIds(idAt(a), idAt(b)));
  const first: number[] = [];
  const repeated: number[] = [];
  for (const place of sorted) {
    // With `===`, a number and a bigint are always different, even if their values are equal.
    const isRepeated = first.length > 0 && compareIds(idAt(first.at(-1)), idAt(place)) === 0;
    (isRepeated ? repeated : first).push(place);
  }
  return { first, repeated };
}

function compareIds(a: bigint | number, b: bigint | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
