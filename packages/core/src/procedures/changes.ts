import { FollowPlantChanges, ListPlantChanges, PlantChanges } from '@plant-store/schemas';
import { tracked } from '@trpc/server';
import { parseCursor } from '../changes/cursor.ts';
import type { ChangesText } from '../changes/read-changes.ts';
import { isPassing } from '../changes/tail.ts';
import { define } from './trpc/define.ts';

export const changeProcedures = {
  listPlantChanges: define({
    type: 'query',
    scope: 'plants:read',
    events: 'plantChanges',
    rest: { method: 'GET', path: '/plants/changes', status: 200 },
    summary: 'Lists changes of the plants',
    description:
      'The feed of changes loses nothing. To copy the store, get a cursor by a request without `after`, ' +
      'list the plants, and then repeat this request with the `next` of each response as `after`. Add or ' +
      'replace each plant that was created or updated, and remove each plant that was deleted. A plant ' +
      'that was created and deleted between two requests appears only as deleted. The store keeps ' +
      'deletions for some days. After that, the error 41000 says to empty the copy and to begin again. ' +
      'With `Accept: text/event-stream`, each change is an event, and `limit` and `wait` are not ' +
      'allowed.',
    returns: 'Changes in the order of the feed',
    input: ListPlantChanges,
    output: PlantChanges,
    run: async ({ ctx: { store, deadline, caller, hold = (wait) => wait() }, input }) => {
      const { after, wait } = input;
      const changes = () => store.feed.changes(input, { deadline, caller });
      return after === undefined || wait === 0 ? changes() : hold(changes);
    },
  }),

  /**
   * Sends the changes of the plants in pages. The id of an event is the cursor after the changes of the event.
   * With this id, a disconnected client can continue after the event.
   *
   * The procedure checks the cursor before the stream begins, because the HTTP status cannot change
   * afterwards. When the database is down, the stream begins, and then waits for the database.
   */
  plantChanges: define({
    type: 'subscription',
    scope: 'plants:read',
    input: FollowPlantChanges,
    output: PlantChanges,
    run: async ({ ctx: { store, deadline, caller }, input, signal }) => {
      const { lastEventId } = input;
      if (lastEventId !== undefined) parseCursor(lastEventId, 'Last-Event-ID');
      const after = lastEventId ?? input.after;
      const first = store.feed.changes({ after, limit: 1, wait: 0 }, { deadline, caller });
      await first.catch((error) => {
        if (!isPassing(error)) throw error;
      });
      return envelopes(store.feed.follow({ after, signal, caller }));
    },
  }),
};

async function* envelopes(pages: AsyncIterable<ChangesText>) {
  for await (const page of pages) yield tracked(page.next, page);
}
