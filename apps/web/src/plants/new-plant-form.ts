import { IdFromText, NewPlant } from '@plant-store/schemas';

/** What somebody typed. */
export interface PlantTexts {
  id: string;
  name: string;
  tag: string;
}

export type FieldName = keyof PlantTexts;

/** What is wrong with each field. */
export type FieldErrors = { [Field in FieldName]?: string };

/** The schema that the store uses, with an id that is a text. */
const PlantForm = NewPlant.extend({ id: IdFromText });

/** Checks what somebody typed by the schema that the store uses. An empty tag is no tag. */
export function checkNewPlant({ id, name, tag }: PlantTexts): {
  plant: NewPlant | undefined;
  errors: FieldErrors;
} {
  const { data, error } = PlantForm.safeParse({
    id: id.trim() || undefined,
    name: name || undefined,
    tag: tag || undefined,
  });
  const errors: FieldErrors = {};
  for (const { path, message } of error?.issues ?? []) {
    const [field] = path;
    if (field === 'id' || field === 'name' || field === 'tag') errors[field] ??= message;
  }
  return { plant: data, errors };
}
