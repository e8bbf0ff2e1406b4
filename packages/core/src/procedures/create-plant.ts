import { NewPlant, Plant } from '@plant-store/schemas';
import { procedure } from './trpc.ts';

/** Creates a plant. The id is the client's and makes a retry safe: see `PlantStore.create`. */
export const createPlant = procedure
  .meta({
    openapi: {
      method: 'POST',
      path: '/plants',
      summary: 'Creates a new plant in the store',
      description:
        'The id makes a retry safe: the same plant again is answered 200 again; ' +
        'another plant under an id that is taken is refused with 409.\n\n' +
        'Send an id beyond ±9007199254740991 as raw JSON: numbers of JavaScript are rounded there, ' +
        'and so are they in the form view of the API reference.',
      tags: ['plants'],
      successDescription: 'Plant response',
    },
  })
  .input(NewPlant)
  .output(Plant)
  .mutation(({ ctx, input }) => ctx.store.create(input, ctx.within));
