import { DeletePlant, operations } from '@plant-store/schemas';
import * as z from 'zod';
import { plantUnknown } from '../plant-store-error.ts';
import { define } from './trpc/define.ts';

/** Deletes the plant with an id. The id is free after the delete. */
export const deletePlant = define({
  type: 'mutation',
  scope: 'plants:delete',
  tool: 'Deletes a plant. After an error, read the plant before you repeat the call without `ifMatch`.',
  rest: operations.deletePlant,
  summary: 'Deletes a plant',
  description:
    'The id is free afterwards. With `If-Match`, a repeated request deletes no other plant.',
  returns: 'The plant is deleted',
  input: DeletePlant,
  output: z.void(),
  run: async ({ ctx: { store, deadline, caller }, input: { id, ifMatch } }) => {
    const wasThere = await store.unchecked.delete(id, { deadline, caller, ifMatch });
    if (!wasThere) throw plantUnknown(id);
  },
});
