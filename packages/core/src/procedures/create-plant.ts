import { NewPlant, operations, Plant } from '@plant-store/schemas';
import { OutputText } from '../plants/output-text.ts';
import { define } from './trpc/define.ts';

/** Creates a plant. The client chooses the id, so a retry is safe: see `PlantStore.create`. */
export const createPlant = define({
  type: 'mutation',
  scope: 'plants:create',
  rest: operations.createPlant,
  summary: 'Creates a plant',
  description:
    'The id makes a retry safe: a request that sends the same plant again also gets 200. ' +
    'A different plant with an id that is taken gets 409.\n\n' +
    'Send an id beyond ±9007199254740991 as raw JSON: JavaScript rounds numbers beyond that, ' +
    'and so does the form view of the API reference.',
  returns: 'Plant response',
  input: NewPlant,
  output: Plant,
  run: async ({ ctx: { store, deadline, caller }, input }) => {
    const plant = await store.unchecked.create(input, { deadline, caller });
    // superjson would take several times longer, and would change nothing.
    return new OutputText(JSON.stringify(plant));
  },
});
