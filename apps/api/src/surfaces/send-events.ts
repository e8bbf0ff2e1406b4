import { Readable } from 'node:stream';
import type { Caller } from '@plant-store/core';
import type { ChangesText } from '@plant-store/core/internal';
import type { TrackedEnvelope } from '@trpc/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpError, toHttpError } from '../errors/http-error.ts';
import { isObject } from '../requests/body/json-body.ts';
import { callContext, type Endpoint } from './call-flow.ts';

/** The format in which a surface writes Server-Sent Events. */
export interface EventFormat {
  /** The text at the start of a stream, after the line `retry`. */
  readonly start: string;
  /** The text that an idle stream sends to keep the connection open. */
  readonly ping: string;
  /** Writes the events of a page of changes. */
  write(page: ChangesText): string;
  /** Writes an event for the error that ends a stream. Returns undefined if errors have no event. */
  writeError(error: HttpError): string | undefined;
}

/**
 * Makes the handler that sends the pages of a subscription as Server-Sent Events.
 *
 * @param endpoint the endpoint of the subscription on one surface
 */
export function eventHandler(
  endpoint: Pick<Endpoint, 'procedure' | 'decode'>,
  format: EventFormat,
) {
  // All subscribers that get the same page share its bytes.
  const parts = new WeakMap<ChangesText, Buffer>();
  const partOf = (page: ChangesText): Buffer => {
    const part = parts.get(page) ?? Buffer.from(format.write(page));
    parts.set(page, part);
    return part;
  };

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const connection = new AbortController();
    const pages = await endpoint.procedure.call({
      ctx: { ...callContext(request, reply), caller: readerOf(request, connection.signal) },
      getRawInput: () => withLastEventId(endpoint.decode(request), request),
      signal: connection.signal,
    });
    request.server.startWaiting(request, reply);
    reply.headers({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no', // This header tells nginx to forward each event without delay.
    });
    if (request.method === 'HEAD') return reply.send(Readable.from([]));
    const envelopes = pages as AsyncGenerator<Page>; // The only subscription is the feed, which yields pages.
    const nextPart = async () => {
      const [, page] = (await envelopes.next()).value;
      await request.checkTokenAgain();
      return partOf(page);
    };
    const stream = eventStream(request, format, nextPart, connection);
    stream.push(`retry: ${retryDelay()}\n${format.start}`);
    return reply.send(stream);
  };
}

/** Milliseconds between two pings. A ping shows proxies and clients that the connection works. */
const pingInterval = 10_000;

/** A client connects again after this number of milliseconds without an event. */
export const reconnectAfterInactivity = 25_000;

/** A stream ends after at most these milliseconds. Its client connects again, perhaps to a new instance. */
const maxDuration = 60_000;

/**
 * Makes a stream of events. When the client should connect again, the stream ends without an error event. The
 * stream reads a page only after the connection has taken the previous page, so a slow client takes the
 * memory of only one page.
 *
 * @param nextPart waits for the next page of changes, and writes its events. Throws when the token was revoked
 * @param connection is aborted when the stream ends, which stops the feed
 */
function eventStream(
  request: FastifyRequest,
  format: Pick<EventFormat, 'ping' | 'writeError'>,
  nextPart: () => Promise<Buffer>,
  connection: AbortController,
): Readable {
  const { memory, logError } = request.server;
  let isReading = false;
  let release = () => {};
  const stream = new Readable({
    highWaterMark: 0, // Never read ahead.
    read: () => void (isReading || readNext()),
    destroy(error, done) {
      connection.abort();
      clearInterval(ping);
      clearTimeout(timeout);
      release();
      done(error);
    },
  });
  const ping = setInterval(() => {
    if (isReading && stream.readableFlowing) stream.push(format.ping);
  }, pingInterval);
  // Each stream ends after a random time, so that not all clients connect again at the same time.
  const timeout = setTimeout(end, maxDuration * (0.5 + Math.random() / 2));
  return stream;

  async function readNext(): Promise<void> {
    isReading = true;
    release();
    release = () => {};
    try {
      const part = await nextPart();
      if (connection.signal.aborted) return;
      memory.set(request, 'pageBytes', 0);
      const counted = memory.countPart(part);
      if (!counted) return end();
      release = counted;
      isReading = false;
      stream.push(part);
    } catch (thrown) {
      if (connection.signal.aborted) return;
      const error = toHttpError(thrown);
      // In a shutdown, the stream sends no error event. The client then connects again, and reaches another
      // instance.
      if (error.kind !== 'shuttingDown') {
        logError(error, request);
        stream.push(format.writeError(error) ?? '');
      }
      end();
    }
  }

  function end(): void {
    connection.abort();
    stream.push(null);
  }
}

/**
 * Makes the `Caller` of a stream. When the store reads a page, `reserve` reserves memory for the page. The
 * reservation ends when the stream itself counts the memory of the page.
 */
function readerOf(request: FastifyRequest, signal: AbortSignal): Caller {
  return {
    get isGone() {
      return request.isGone || signal.aborted;
    },
    // After the end of the stream, `reserve` does nothing, because nobody would release the memory.
    reserve(bytes) {
      if (signal.aborted) return () => {};
      request.server.memory.set(request, 'pageBytes', 0);
      const settle = request.reserve(bytes);
      return (used) => {
        if (!signal.aborted) settle(used);
      };
    },
  };
}

/** A page of changes, and the cursor of the next page. */
type Page = TrackedEnvelope<ChangesText>;

/**
 * Adds the id of the last event to the input. A client sends the id of its last event when it connects again.
 */
function withLastEventId(input: unknown, { headers, query }: FastifyRequest): unknown {
  const lastEventId = headers['last-event-id'] || Object(query).lastEventId;
  const mayHaveIt = input === undefined || isObject(input);
  return lastEventId && mayHaveIt ? { ...input, lastEventId } : input;
}

/** Returns a random delay in milliseconds, so that clients do not connect again in a burst. */
const retryDelay = () => 250 + Math.floor(Math.random() * 750);
