import { IdFromText, NewPlant } from '@plant-store/schemas';
import { columnValue, plantColumns, plantFields } from '@plant-store/schemas/plain';
import { shownFields } from '../shown-fields.tsx';
import type { FieldName, PlantTexts } from './draft.ts';

/** The error of each invalid field. */
export type FieldErrors = { [Field in FieldName]?: string };

export const formFields: readonly FieldName[] = [...plantFields, 'id'];

/** Like the store's schema for a new plant, but the id is a text. */
const PlantForm = NewPlant.extend({ id: IdFromText });

/** Checks the texts of the form with the store's schema. An empty field counts as a missing value. */
export function checkNewPlant(texts: PlantTexts): {
  plant: NewPlant | undefined;
  errors: FieldErrors;
} {
  const content = plantFields.map((field) => [
    field,
    texts[field] === '' ? undefined : columnValue(plantColumns[field].kind, texts[field]),
  ]);
  const { data, error } = PlantForm.safeParse({
    ...Object.fromEntries(content),
    id: texts.id.trim() || undefined,
  });
  const errors: FieldErrors = {};
  for (const { path, message } of error?.issues ?? []) {
    const field = formFields.find((name) => name === path[0]);
    if (field) errors[field] ??= texts[field].trim() === '' ? missing(field) : message;
  }
  if (texts.name.trim() === '') errors.name ??= 'Enter a name that has more than spaces';
  return { plant: errors.name ? undefined : data, errors };
}

/** Makes the message for a missing value, such as "Enter a name". */
function missing(field: FieldName): string {
  const label = shownFields[field].label.toLowerCase();
  return `Enter ${/^[aeiou]/.test(label) ? 'an' : 'a'} ${label}`;
}

/** Returns the server's first message for each field. */
export function firstOfEach(messages: { [field: string]: string[] | undefined }): FieldErrors {
  const given = formFields.flatMap((field) => {
    const [first] = messages[field] ?? [];
    return first === undefined ? [] : [[field, first]];
  });
  return Object.fromEntries(given);
}

/** Makes a random id, which is almost certainly free. A JavaScript number can represent the id exactly. */
export function randomId(): bigint {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (BigInt(high % 2 ** 20) << 32n) + BigInt(low) + 1n;
}
