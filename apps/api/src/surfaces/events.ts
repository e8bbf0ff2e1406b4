import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { PlantStoreError } from '@plant-store/core';
import type { ChangesText, Procedure } from '@plant-store/core/internal';
import type { TrackedEnvelope } from '@trpc/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkTokenAgain } from '../auth/tokens.ts';
import { toHttpError } from '../requests/errors.ts';
import { isObject } from '../requests/json-body.ts';
import type { Budget } from '../requests/limits.ts';
import { callContext, startWaiting } from './call.ts';

/** The format in which a surface writes Server-Sent Events. */
export interface EventFormat {
  /** The text at the start of a stream, after the line `retry`. */
  readonly start: string;
  /** The text that an idle stream sends to keep the connection open. */
  readonly ping: string;
  /** Writes the events of a page of changes. */
  write(page: ChangesText): string;
  /** Writes an event for the error that ends a stream, or returns an empty text. */
  writeError(error: PlantStoreError): string;
}

/**
 * The events of REST: each change is one event. An error has no event. After an error, the client connects
 * again, and the response to this new request can contain the error.
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
  writeError: () => '',
};

/**
 * Makes the format of tRPC's `httpSubscriptionLink`, in which each page of changes is one event. tRPC itself
 * would write the JSON of a page again for each subscriber, and would read a page in advance.
 */
export function trpcEvents(
  encode: (page: ChangesText) => string,
  encodeError: (error: PlantStoreError) => string,
): EventFormat {
  return {
    start: `event: connected\ndata: {"reconnectAfterInactivityMs":${reconnectAfter}}\n\n`,
    ping: 'event: ping\ndata:\n\n',
    write: (page) => `data: ${encode(page)}\nid: ${page.next}\n\n`,
    writeError: (error) => `event: serialized-error\ndata: ${encodeError(error)}\n\n`,
  };
}

/** Milliseconds between two pings. A ping shows proxies and clients that the connection works. */
const pingInterval = 10_000;

/** A client connects again after this number of milliseconds without an event. */
const reconnectAfter = 25_000;

/** After at most this many milliseconds, a stream ends at its next page or ping, and its client connects again. */
const maxDuration = 60_000;

/** The maximum number of bytes that a stream writes at a time. */
const partSize = 2 ** 16;

/** The cursor after a page of changes, and the page. */
type Envelope = TrackedEnvelope<ChangesText>;

/**
 * Makes the handler that sends the pages of a subscription as Server-Sent Events.
 *
 * @param readInput reads the input of the subscription from a request of the surface
 */
export function eventHandler(
  procedure: Procedure['definition'],
  readInput: (request: FastifyRequest) => unknown,
  format: EventFormat,
) {
  // All subscribers that get the same page share its bytes, which the budget counts once.
  const written = new WeakMap<ChangesText, SharedPage>();

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const connection = new AbortController();
    reply.raw.once('close', () => connection.abort());
    const pages = await procedure.call({
      ctx: callContext(request, reply),
      readInput: () => withLastEventId(readInput(request), request),
      signal: connection.signal,
    });
    startWaiting(request, reply);
    reply.headers({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no', // This header tells nginx to forward each event without delay.
    });
    if (request.method === 'HEAD') return reply.send('');
    // The only subscription is the feed, which yields pages.
    const parts = writeParts(request, pages as AsyncGenerator<Envelope, never>, connection);
    return reply.send(Readable.from(parts, { objectMode: false, highWaterMark: 0 }));
  };

  /**
   * Writes the parts of a stream. Reads a page only after the connection has taken the previous page, so a slow
   * client takes the memory of only one page. A stream ends without an error event when `end` is reached, or
   * when the server stops.
   */
  async function* writeParts(
    request: FastifyRequest,
    pages: AsyncGenerator<Envelope, never>,
    connection: AbortController,
  ) {
    // Each stream ends after a random time, and its client waits for a random time. Many clients therefore do not
    // connect again in a burst.
    const end = performance.now() + maxDuration * (0.5 + Math.random() / 2);
    const retryDelay = 250 + Math.floor(Math.random() * 750); // In milliseconds.
    yield `retry: ${retryDelay}\n${format.start}`;
    try {
      let next: ReturnType<typeof pages.next> | undefined;
      while (performance.now() < end) {
        next ??= pages.next();
        const result = await orPing(next);
        if (result) {
          next = undefined;
          await checkTokenAgain(request);
          const [, page] = result.value;
          yield* partsOf(page, request.server.budgets.responses);
        } else {
          yield format.ping;
        }
      }
    } catch (thrown) {
      const error = toHttpError(thrown);
      // In a shutdown, the client connects again, and reaches another instance.
      if (connection.signal.aborted || error.kind === 'shuttingDown') return;
      request.server.logError(error, request);
      yield format.writeError(error);
    } finally {
      connection.abort(); // This ends the feed's wait for changes.
    }
  }

  async function* partsOf(page: ChangesText, budget: Budget) {
    const shared = written.get(page) ?? { bytes: Buffer.from(format.write(page)), readers: 0 };
    written.set(page, shared);
    const { bytes } = shared;
    if (shared.readers === 0) budget.take(bytes.length);
    shared.readers++;
    try {
      for (let i = 0; i < bytes.length; i += partSize) {
        yield bytes.subarray(i, i + partSize);
        await setImmediate(); // Other requests continue here, even when the connection is fast.
      }
    } finally {
      shared.readers--;
      if (shared.readers === 0) budget.give(bytes.length);
    }
  }
}

interface SharedPage {
  readonly bytes: Buffer;
  /** The number of streams that write the page. */
  readers: number;
}

/** Returns the value of a promise, or undefined when it is time for a ping. */
async function orPing<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  const ping = Promise.withResolvers<undefined>();
  const timer = setTimeout(ping.resolve, pingInterval, undefined);
  try {
    return await Promise.race([promise, ping.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Adds the id of the last event. In an `EventSource` that connects again, the header has a newer id than the URL. */
function withLastEventId(input: unknown, { headers, query }: FastifyRequest): unknown {
  const lastEventId = headers['last-event-id'] || Object(query).lastEventId;
  const mayHaveIt = input === undefined || isObject(input);
  return lastEventId && mayHaveIt ? { ...input, lastEventId } : input;
}
