import type { PlantChanges, StoredPlant } from '@plant-store/schemas';

/** The plants that a follower knows. The follower gets these plants from a list and from the feed. */
export interface Copy {
  /** The text of each plant. The key is the plant's id. */
  readonly plants: Map<bigint, string>;
  /** From this cursor, the follower continues to read the feed. */
  cursor: string;
  /** The changes that came after the list. */
  readonly changes: SeenChange[];
}

export interface SeenChange {
  readonly type: 'created' | 'deleted';
  readonly id: bigint;
  readonly name: string;
}

export const textOf = ({ name, tag, createdAt }: StoredPlant): string =>
  `${name} (${tag ?? 'no tag'}) of ${createdAt.toISOString()}`;

/** Applies a page of changes in the documented way. */
export function apply({ changes, next }: PlantChanges, copy: Copy): void {
  for (const { type, plant } of changes) {
    if (type === 'created') copy.plants.set(plant.id, textOf(plant));
    else copy.plants.delete(plant.id);
    copy.changes.push({ type, id: plant.id, name: plant.name });
  }
  copy.cursor = next;
}

export const cloneOf = ({ plants, cursor, changes }: Copy): Copy => ({
  plants: new Map(plants),
  cursor,
  changes: [...changes],
});

/** Returns a few differences between the plants of the table and the plants of a follower. */
export function differences(table: ReadonlyMap<bigint, string>, copy: Copy | undefined): string[] {
  if (!copy) return ['there is no copy'];
  const ids = [...new Set([...table.keys(), ...copy.plants.keys()])];
  const different = ids.filter((id) => table.get(id) !== copy.plants.get(id));
  return different
    .slice(0, 5)
    .map((id) => `${id}: the table has ${table.get(id)}, the copy has ${copy.plants.get(id)}`);
}
