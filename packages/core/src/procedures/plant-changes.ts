import { FollowPlantChanges, PlantChanges } from '@plant-store/schemas';
import { tracked } from '@trpc/server';
import { parseCursor } from '../changes/cursor.ts';
import { isPassing } from '../changes/feed-end.ts';
import { generate } from '../generate.ts';
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
  meta: { scope: 'plants:read' },
  input: FollowPlantChanges,
  output: PlantChanges,
  run: async ({ ctx: { store, deadline, caller }, input, signal }) => {
    const { lastEventId, tag } = input;
    if (lastEventId !== undefined) parseCursor(lastEventId, 'Last-Event-ID');
    const after = lastEventId ?? input.after;
    await store.changes({ after, limit: 1 }, { deadline, caller }).catch((error) => {
      if (!isPassing(error)) throw error;
    });
    const pages = store.follow({ after, tag, signal, caller });
    return generate(async () => {
      const { value } = await pages.next();
      return tracked(value.next, value);
    });
  },
});
