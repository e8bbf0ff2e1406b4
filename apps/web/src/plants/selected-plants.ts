import type { PlantChange, StoredPlant } from '@plant-store/schemas';
import { isSame } from '../changes/change-page.ts';

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

/** Removes deleted plants from the selection, even when other plants have got their ids. */
export function afterChanges(
  plants: SelectedPlants,
  changes: readonly PlantChange[],
): SelectedPlants {
  const latest = new Map(changes.map((change) => [change.plant.id, change]));
  const isGone = (plant: StoredPlant) => {
    const change = latest.get(plant.id);
    return change && (change.type === 'deleted' || !isSame(change.plant, plant));
  };
  const gone = [...plants.values()].filter(isGone).map(({ id }) => id);
  return gone.length === 0 ? plants : without(plants, new Set(gone));
}
