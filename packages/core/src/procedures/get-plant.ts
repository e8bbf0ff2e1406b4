import { operations, PlantIdInput, PlantWithEtag } from '@plant-store/schemas';
import { plantUnknown } from '../plant-store-error.ts';
import { define } from './trpc/define.ts';

/** Returns the plant with an id. */
export const getPlant = define({
  type: 'query',
  meta: {
    scope: 'plants:read',
    tool: 'Returns the plant with an id. Pass its `etag` as `ifMatch` to replace or delete only this version.',
    openapi: {
      ...operations.getPlant,
      summary: 'Returns a plant',
      description:
        'The header `ETag` changes with each replacement: see `If-Match`. Needs the scope `plants:read`.',
      tags: ['plants'],
      successDescription: 'The stored plant',
    },
  },
  input: PlantIdInput,
  output: PlantWithEtag,
  run: async ({ ctx: { store, deadline, caller }, input: { id } }) => {
    const plant = await store.texts.get(id, { deadline, caller });
    if (!plant) throw plantUnknown(id);
    return plant;
  },
});
