import { checkPlant, PlantStoreError } from '@plant-store/core';
import type { RowStore } from './load-rows.ts';

/** Checks plants as the store does, but stores nothing and does not know which ids are taken. */
export const dryStore: RowStore = {
  load: async (plants) =>
    plants.map((plant) => {
      const checked = checkPlant(plant);
      return checked instanceof PlantStoreError ? checked : 'valid';
    }),
};
