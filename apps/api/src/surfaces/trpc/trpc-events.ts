import { trpcError } from '../../errors/error-response.ts';
import type { Endpoint } from '../call-flow.ts';
import { type EventFormat, reconnectAfterInactivity } from '../send-events.ts';

/**
 * Makes the format of tRPC's `httpSubscriptionLink`, in which each page of changes is one event. The function
 * `resolveResponse` of tRPC would write the JSON of a page again for each subscriber, and would read a page
 * in advance.
 */
export function trpcEvents({ path, encode }: Endpoint): EventFormat {
  return {
    start: event('connected', { reconnectAfterInactivityMs: reconnectAfterInactivity }),
    ping: 'event: ping\ndata:\n\n',
    write: (page) => `data: ${encode(page)}\nid: ${page.next}\n\n`,
    writeError: (error) => event('serialized-error', trpcError(error, path)),
  };
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
