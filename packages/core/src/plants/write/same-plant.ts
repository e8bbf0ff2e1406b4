import type { NewPlant } from '@plant-store/schemas';

/** Whether two plants with the same id have the same content, so that the create is a retry. */
export function isSamePlant(plant: NewPlant, stored: NewPlant): boolean {
  return plant.name === stored.name && plant.tag === stored.tag;
}
