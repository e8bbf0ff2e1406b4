import type { PlantStoreError } from '@plant-store/core';
import { showId } from '../formats/show-id.ts';

/** The reason why the store did not accept a plant. Core's message does not contain the invalid id. */
export function reasonOf({ message }: PlantStoreError, plant: unknown): string {
  if (typeof plant !== 'object' || plant === null || !('id' in plant)) return message;
  const { id } = plant;
  return message.replace(/^invalid input: id (?=must)/, (start) => `${start}${showId(id)} `);
}
