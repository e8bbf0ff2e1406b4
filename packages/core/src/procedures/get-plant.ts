import { operations, PlantIdInput, StoredPlant } from '@plant-store/schemas';
import { plantUnknown } from '../plant-store-error.ts';
import { define } from './trpc/define.ts';

/** Returns the plant with an id. */
export const getPlant = define({
  type: 'query',
  meta: {
    scope: 'plants:read',
    openapi: {
      ...operations.getPlant,
      summary: 'Returns a plant',
      description: 'Needs the scope `plants:read`.',
      tags: ['plants'],
      successDescription: 'The stored plant',
    },
  },
  input: PlantIdInput,
  output: StoredPlant,
  run: async ({ ctx: { store, deadline, caller }, input: { id } }) => {
    const plant = await store.get(id, { deadline, caller });
    if (!plant) throw plantUnknown(id);
    return plant;
  },
});
