import { FollowPlantChanges } from '@plant-store/schemas';
import { tracked } from '@trpc/server';
import { procedure } from './trpc.ts';

/**
 * Sends the changes of the plants as they happen. The id of each event is its cursor, so that a client
 * that has lost its connection goes on where it was.
 */
export const plantChanges = procedure
  .meta({ scope: 'plants:read' })
  .input(FollowPlantChanges)
  .subscription(async function* ({ ctx: { store }, input, signal }) {
    const after = input.lastEventId ?? input.after;
    for await (const page of store.follow({ after, signal })) yield tracked(page.next, page);
  });
