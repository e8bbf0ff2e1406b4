import { operations, PlantIdInput, StoredPlant } from '@plant-store/schemas';
import { plantUnknown } from '../plant-store-error.ts';
import { procedure } from './trpc.ts';

/** Returns the plant with an id. */
export const getPlant = procedure
  .meta({
    scope: 'plants:read',
    openapi: {
      ...operations.getPlant,
      summary: 'Returns a plant',
      description: 'Needs the scope `plants:read`.',
      tags: ['plants'],
      successDescription: 'The stored plant',
    },
  })
  .input(PlantIdInput)
  .output(StoredPlant)
  .query(async ({ ctx: { store, deadline, caller }, input: { id } }) => {
    const plant = await store.get(id, { deadline, caller });
    if (!plant) throw plantUnknown(id);
    return plant;
  });
