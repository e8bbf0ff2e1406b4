import { ListPlantChanges, operations, PlantChanges } from '@plant-store/schemas';
import { parseCursor } from '../changes/cursor.ts';
import { ChangesText } from '../changes/read-changes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { define } from './trpc/define.ts';

export const listPlantChanges = define({
  type: 'query',
  scope: 'plants:read',
  events: 'plantChanges',
  rest: operations.listPlantChanges,
  summary: 'Lists changes of the plants',
  description:
    'The feed of changes loses nothing. To copy the store, get a cursor by a request without `after`, ' +
    'list the plants, and then repeat this request with the `next` of each response as `after`. Add ' +
    'each plant that was created, or replace it, and remove each that was deleted. A plant that was ' +
    'created and deleted between two requests appears as deleted alone. Deletions are kept for some ' +
    'days: then the error 41000 says to empty the copy and to begin again. With ' +
    '`Accept: text/event-stream`, each change comes as an event, at once, and `limit` and `wait` are not ' +
    'allowed.',
  returns: 'Changes in their order',
  input: ListPlantChanges,
  output: PlantChanges,
  run: async ({ ctx: { store, deadline, caller, hold = (wait) => wait() }, input }) => {
    const { after, wait } = input;
    const changes = () => store.feed.changes(input, { deadline, caller });
    if (after === undefined || wait === 0) return changes();
    // When the server stops, a waiting client gets an empty page, and can use another instance.
    return hold(changes).catch((error) => {
      if (error instanceof PlantStoreError && error.kind === 'shuttingDown')
        return new ChangesText([], parseCursor(after));
      throw error;
    });
  },
});
