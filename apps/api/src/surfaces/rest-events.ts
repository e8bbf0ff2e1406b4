import type { FastifyRequest } from 'fastify';
import { weightOf } from '../responses/negotiation.ts';
import type { EventFormat } from './send-events.ts';

/**
 * Writes each change as one event. An error has no event. After an error, the client connects again, and the
 * response to this new request can contain the error.
 */
export const restEvents: EventFormat = {
  start: '\n',
  ping: ':\n\n',
  write(page) {
    const events = page.changes.map(
      ({ type, plant }, i) => `event: ${type}\ndata: ${plant}\nid: ${page.cursorAfter(i)}\n\n`,
    );
    // An event without data gives the client a cursor. The client's next request begins at this cursor.
    return events.join('') || `id: ${page.next}\n\n`;
  },
  writeError: () => undefined,
};

/** Returns whether a client prefers events to JSON. */
export function asksForEvents({ headers: { accept } }: FastifyRequest): boolean {
  return weightOf('text/event-stream', accept) > weightOf('application/json', accept);
}
