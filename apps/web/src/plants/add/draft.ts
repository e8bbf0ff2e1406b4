import type { Plant } from '@plant-store/schemas';
import { columnText, plantFields } from '@plant-store/schemas/plain';
import type { PlantTexts } from './new-plant-form.ts';

const key = 'plant-store.draft';

/** What somebody typed into the form for a new plant. It outlives the form, a reload and the token. */
export function readDraft(): Partial<PlantTexts> {
  return JSON.parse(sessionStorage.getItem(key) ?? '{}');
}

export function hasDraft(): boolean {
  return Object.values(readDraft()).some((text) => text !== '');
}

export function keepDraft(texts: Partial<PlantTexts>): void {
  sessionStorage.setItem(key, JSON.stringify(texts));
}

export function forgetDraft(): void {
  sessionStorage.removeItem(key);
}

/** A draft of the same plant with another id. */
export function draftOf(plant: Plant): Partial<PlantTexts> {
  return Object.fromEntries(
    plantFields.flatMap((field) => {
      const value = plant[field];
      return value === undefined ? [] : [[field, columnText(value)]];
    }),
  );
}
