import { NewPlant } from '@plant-store/schemas';
import { parseId } from './parse-id.ts';

/** What somebody typed. */
export interface PlantTexts {
  id: string;
  name: string;
  tag: string;
}

export type FieldName = keyof PlantTexts;

/** What is wrong with each field. */
export type FieldProblems = { [Field in FieldName]?: string };

/** Checks what somebody typed by the schema that the store uses. An empty tag is no tag. */
export function checkNewPlant({ id, name, tag }: PlantTexts): {
  plant: NewPlant | undefined;
  problems: FieldProblems;
} {
  const { data, error } = NewPlant.safeParse({
    id: id.trim() === '' ? undefined : parseId(id),
    name: name === '' ? undefined : name,
    ...(tag !== '' && { tag }),
  });
  const problems: FieldProblems = {};
  for (const { path, message } of error?.issues ?? []) {
    const [field] = path;
    if (field === 'id' || field === 'name' || field === 'tag') problems[field] ??= message;
  }
  return { plant: data, problems };
}
