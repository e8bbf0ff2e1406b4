import { Plant } from '@plant-store/schemas';

// The statements have parameters in this order. `Object.keys` returns `string[]`.
const plantFields = Object.keys(Plant.shape) as (keyof Plant)[];

/** Returns the content of a plant (the name and the tag), which is the response to a create. */
export function contentOf(plant: Plant): Plant {
  const content: Record<string, unknown> = {};
  for (const field of plantFields) {
    if (plant[field] !== undefined) content[field] = plant[field];
  }
  // The cast is safe, because `plantFields` contains every property of a plant.
  return content as unknown as Plant;
}

/** Whether two plants have the same name and the same tag. */
export function hasSameContent(one: Plant, other: Plant): boolean {
  return one === other || plantFields.every((field) => one[field] === other[field]);
}

/** The number of UTF-16 code units in the content of a plant. */
export function contentLength(plant: Plant): number {
  return plantFields.reduce((sum, field) => sum + (plant[field]?.length ?? 0), 0);
}

/** Returns the content of a plant as parameters for a statement. */
export function contentValues(plant: Plant): (string | null)[] {
  return plantFields.map((field) => plant[field] ?? null);
}

/** Returns the ids and the content of plants as parameters for a statement, one array for each column. */
export function columnArrays(plants: readonly (Plant & { readonly id: bigint })[]): string[] {
  const contents = plantFields.map((field) => arrayText(plants.map((plant) => plant[field])));
  return [`{${plants.map(({ id }) => id)}}`, ...contents];
}

/** Formats texts as a Postgres array (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
export function arrayText(texts: readonly (string | undefined)[]): string {
  return `{${texts.map(element).join()}}`;
}

function element(text: string | undefined): string {
  if (text === undefined) return 'NULL';
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}
