import type { Plant } from '@plant-store/schemas';
import { columnText, type PlantField, plantFields } from '@plant-store/schemas/plain';
import { forgetText, keepText, readText } from '../../controls/tab-storage.ts';

export type FieldName = PlantField | 'id';

/** The texts in the fields of the form. */
export type PlantTexts = Readonly<Record<FieldName, string>>;

const key = 'plant-store.draft';

/** Reads the draft of a new plant. The draft stays after a reload and after a change of the token. */
export function readDraft(): Partial<PlantTexts> {
  try {
    const stored = Object.entries(Object(JSON.parse(readText(key) ?? '{}')));
    return Object.fromEntries(stored.filter(([, text]) => typeof text === 'string'));
  } catch {
    // When the stored value is not JSON, the form starts empty.
    return {};
  }
}

export function hasDraft(): boolean {
  return Object.values(readDraft()).some((text) => text !== '');
}

export function keepDraft(texts: Partial<PlantTexts>): void {
  keepText(key, JSON.stringify(texts));
}

export function forgetDraft(): void {
  forgetText(key);
}

/** Makes a draft with the properties of a plant, but without the id. */
export function draftOf(plant: Plant): Partial<PlantTexts> {
  return Object.fromEntries(
    plantFields.flatMap((field) => {
      const value = plant[field];
      return value === undefined ? [] : [[field, columnText(value)]];
    }),
  );
}
