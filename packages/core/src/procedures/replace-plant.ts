import { operations, PlantWithEtag, ReplacePlant } from '@plant-store/schemas';
import { plantUnknown } from '../plant-store-error.ts';
import { define } from './trpc/define.ts';

/** Replaces the name and the tag of a plant. Creates nothing: see `PlantStore.replace`. */
export const replacePlant = define({
  type: 'mutation',
  scope: 'plants:update',
  tool: 'Replaces the name and the tag of a plant. A plant without `tag` loses its tag.',
  rest: operations.replacePlant,
  summary: 'Replaces a plant',
  description:
    'Replaces the name and the tag of a plant that is in the store. Without `tag`, the plant has no tag ' +
    'afterwards. With `If-Match`, replaces only the plant that you have read.',
  returns: 'The stored plant with its new content',
  input: ReplacePlant,
  output: PlantWithEtag,
  run: async ({ ctx: { store, deadline, caller }, input: { id, ifMatch, ...plant } }) => {
    const replaced = await store.unchecked.replace(id, plant, { deadline, caller, ifMatch });
    if (!replaced) throw plantUnknown(id);
    return replaced;
  },
});
