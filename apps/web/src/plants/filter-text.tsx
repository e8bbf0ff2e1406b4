import type { PlantFilter } from '../address/address.ts';
import { PlantText } from './plant-text.tsx';

/** Describes a filter in words. The words stand after the word "plants" in a sentence. */
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
