import type { PlantStoreError } from '@plant-store/core';
import { showId } from '../formats/show-id.ts';

/** The reason why the store did not accept a plant. Core's message does not contain the invalid values. */
export function reasonOf({ message }: PlantStoreError, plant: unknown): string {
  if (typeof plant !== 'object' || plant === null) return message;
  const { id, createdAt } = plant as Record<string, unknown>; // Any object has these types.
  const withId =
    'id' in plant ? message.replace(invalidId, (start) => `${start}${showId(id)} `) : message;
  return withId.replace(invalidTime, `$1created_at ${JSON.stringify(createdAt)} `);
}

const invalidId = /^invalid input: id (?=must)/;
const invalidTime = /(^invalid input: |; )createdAt (?=must)/;
