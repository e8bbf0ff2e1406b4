import { operations, PlantIdInput, PlantWithEtag } from '@plant-store/schemas';
import { plantUnknown } from '../plant-store-error.ts';
import { define } from './trpc/define.ts';

export const getPlant = define({
  type: 'query',
  scope: 'plants:read',
  tool: 'Returns the plant with an id. Pass its `etag` as `ifMatch` to replace or delete only this version.',
  rest: operations.getPlant,
  summary: 'Returns a plant',
  description: 'The header `ETag` changes with each replacement: see `If-Match`.',
  returns: 'The stored plant',
  input: PlantIdInput,
  output: PlantWithEtag,
  run: async ({ ctx: { store, deadline, caller }, input: { id } }) => {
    const plant = await store.unchecked.get(id, { deadline, caller });
    if (!plant) throw plantUnknown(id);
    return plant;
  },
});
