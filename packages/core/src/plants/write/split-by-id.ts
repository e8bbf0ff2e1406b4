import type { NewPlant } from '@plant-store/schemas';

/**
 * Splits creates into the first one of each id, ascending by id, and those that repeat an id. An id
 * may occur only once in a statement. Statements with the same ids in different orders can deadlock.
 */
export function splitById<Create extends { readonly plant: NewPlant }>(
  creates: readonly Create[],
): { first: Create[]; repeated: Create[] } {
  const sorted = creates.toSorted((a, b) => compareIds(a.plant.id, b.plant.id));
  const first: Create[] = [];
  const repeated: Create[] = [];
  for (const create of sorted) {
    const isRepeated = create.plant.id === first.at(-1)?.plant.id;
    (isRepeated ? repeated : first).push(create);
  }
  return { first, repeated };
}

function compareIds(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
