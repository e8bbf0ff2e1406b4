import type { PlantFilter } from '../address/address.ts';
import { PlantText } from './plant-text.tsx';

/** Describes the plants of a filter. The text is the end of a sentence that begins with "plants". */
export function FilterText({ tag, search }: PlantFilter) {
  return (
    <>
      {tag !== undefined && (
        <>
          {' '}
          with the tag “<PlantText text={tag} />”
        </>
      )}
      {search !== undefined && (
        <>
          {tag !== undefined && ' and'} with “<PlantText text={search} />” in their names
        </>
      )}
    </>
  );
}
