import type { StoredPlant } from '@plant-store/schemas';

/** The selected plants, with their ids as keys. */
export type SelectedPlants = ReadonlyMap<bigint, StoredPlant>;

export interface Selection {
  readonly plants: SelectedPlants;
  onChange(change: (latest: SelectedPlants) => SelectedPlants): void;
}

export function byId(plants: readonly StoredPlant[]): SelectedPlants {
  return new Map(plants.map((plant) => [plant.id, plant]));
}

/** Removes the plants with the given ids from the selection. */
export function without(plants: SelectedPlants, ids: ReadonlySet<bigint>): SelectedPlants {
  return new Map([...plants].filter(([id]) => !ids.has(id)));
}
