import { FollowPlantChanges, PlantChanges } from '@plant-store/schemas';
import { tracked } from '@trpc/server';
import { parseCursor } from '../changes/cursor.ts';
import { isPassing } from '../changes/feed.ts';
import type { ChangesText } from '../changes/read-changes.ts';
import { define } from './trpc/define.ts';

/**
 * Sends each change of a plant immediately. The id of each event is the cursor after the changes of the
 * event, so a disconnected client can continue after the last event.
 *
 * The cursor is checked before the stream begins, so that the response to an invalid cursor has its own HTTP
 * status. When the database is down, the stream begins, and then waits for the database.
 */
export const plantChanges = define({
  type: 'subscription',
  scope: 'plants:read',
  input: FollowPlantChanges,
  output: PlantChanges,
  run: async ({ ctx: { store, deadline, caller }, input, signal }) => {
    const { lastEventId } = input;
    if (lastEventId !== undefined) parseCursor(lastEventId, 'Last-Event-ID');
    const after = lastEventId ?? input.after;
    await store.feed.changes({ after, limit: 1 }, { deadline, caller }).catch((error) => {
      if (!isPassing(error)) throw error;
    });
    return envelopes(store.feed.follow({ after, signal, caller }));
  },
});

async function* envelopes(pages: AsyncIterable<ChangesText>) {
  for await (const page of pages) yield tracked(page.next, page);
}
