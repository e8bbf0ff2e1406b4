import { FollowPlantChanges, PlantChanges } from '@plant-store/schemas';
import { type TrackedEnvelope, tracked } from '@trpc/server';
import { isPassing } from '../changes/feed-end.ts';
import type { Caller } from '../database/deadline.ts';
import { define } from './define.ts';

/**
 * Sends the changes of the plants as they happen. The id of each event is its cursor, so that a client
 * that has lost its connection goes on where it was.
 *
 * It checks the cursor before the stream begins, so that the error has an HTTP status of its own. While the
 * database is down, the stream begins and waits.
 */
export const plantChanges = define({
  type: 'subscription',
  meta: { scope: 'plants:read' },
  input: FollowPlantChanges,
  output: PlantChanges,
  run: async ({ ctx: { store, deadline, caller }, input, signal }) => {
    const after = input.lastEventId ?? input.after;
    await store.changes({ after, limit: 1 }, { deadline, caller }).catch((error) => {
      if (!isPassing(error)) throw error;
    });
    return events();

    async function* events(): AsyncIterable<TrackedEnvelope<PlantChanges>, void> {
      const reader = caller && readerOf(caller);
      for await (const page of store.follow({ after, signal, caller: reader })) {
        yield tracked(page.next, page);
      }
    }
  },
});

/** Reserves memory for a page only while it is read. The stream then counts what it sends. */
function readerOf(caller: Caller): Caller {
  return {
    get isGone() {
      return caller.isGone;
    },
    reserve(bytes) {
      const settle = caller.reserve?.(bytes);
      return () => settle?.(0);
    },
  };
}
