import { Readable } from 'node:stream';
import type { Caller } from '@plant-store/core';
import type { PlantChanges } from '@plant-store/schemas';
import type { TrackedEnvelope } from '@trpc/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpError, toHttpError } from '../errors/http-error.ts';
import { isObject } from '../requests/body/json-body.ts';
import { callContext, type Endpoint } from './call-flow.ts';
import { eventStream } from './event-stream.ts';

/** The format in which a surface writes Server-Sent Events. */
export interface EventFormat {
  /** The text at the start of a stream, after the line `retry`. */
  readonly start: string;
  /** The text that an idle stream sends to keep the connection open. */
  readonly ping: string;
  /** Writes the events of a page of changes. */
  write(page: PlantChanges): string;
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
  const parts = new WeakMap<PlantChanges, Buffer>();
  const partOf = (page: PlantChanges): Buffer => {
    const part = parts.get(page) ?? Buffer.from(format.write(page));
    parts.set(page, part);
    return part;
  };

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const connection = new AbortController();
    const { memory } = request.server;
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
    const stream = eventStream({
      pages: pages as AsyncGenerator<Page>, // The only subscription is the feed, which yields pages.
      partOf: ([, page]) => partOf(page),
      check: () => request.checkTokenAgain(),
      countPart(part) {
        memory.set(request, 'pageBytes', 0);
        return memory.countPart(part);
      },
      connection,
      ping: format.ping,
      errorEvent(thrown) {
        const error = toHttpError(thrown);
        // When the server shuts down, the stream sends no error event. The client then connects again, and
        // reaches another instance.
        if (error.kind === 'shuttingDown') return undefined;
        request.server.logError(error, request);
        return format.writeError(error);
      },
    });
    stream.push(`retry: ${retryDelay()}\n${format.start}`);
    return reply.send(stream);
  };
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
type Page = TrackedEnvelope<PlantChanges>;

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
