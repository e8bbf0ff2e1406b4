import { PlantStoreError } from '@plant-store/core';
import { NewPlant } from '@plant-store/schemas';
import type { RowStore } from './load-rows.ts';

/** Checks plants as the store does, but stores nothing and does not know which ids are taken. */
export const dryStore: RowStore = {
  load: async (plants) => plants.map(check),
};

function check(plant: unknown): 'valid' | PlantStoreError {
  const { error } = NewPlant.safeParse(plant);
  if (!error) return 'valid';
  const issues = error.issues.map(({ path, message }) => `${path.join('.') || 'it'} ${message}`);
  return new PlantStoreError('invalidInput', `invalid input: ${issues.join('; ')}`);
}
