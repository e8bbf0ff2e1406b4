import { Readable } from 'node:stream';
import type { Caller, PlantStore } from '@plant-store/core';
import type { PlantChanges } from '@plant-store/schemas';
import type { TrackedEnvelope } from '@trpc/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { trpcError } from '../../errors/error-response.ts';
import { toHttpError } from '../../errors/http-error.ts';
import { isObject } from '../../requests/body/json-body.ts';
import type { MemoryLimits } from '../../requests/memory/limit-memory.ts';
import { callContext, type Endpoint } from '../call-flow.ts';
import { eventStream, reconnectAfterInactivity } from './event-stream.ts';

interface SubscriptionOptions {
  store: PlantStore;
  memory: MemoryLimits;
  endpoint: Endpoint;
}

/**
 * Makes the handler of a subscription, which sends pages as the Server-Sent Events that tRPC's
 * `httpSubscriptionLink` reads. tRPC's own `resolveResponse` would write the JSON of a page again for each
 * subscriber, and would read a page in advance.
 */
export function subscriptionHandler({ store, memory, endpoint }: SubscriptionOptions) {
  // Many subscribers get the same page.
  const parts = new WeakMap<PlantChanges, Buffer>();
  const partOf = (page: PlantChanges): Buffer => {
    const part =
      parts.get(page) ?? Buffer.from(`data: ${endpoint.encode(page)}\nid: ${page.next}\n\n`);
    parts.set(page, part);
    return part;
  };

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const connection = new AbortController();
    const pages = await endpoint.procedure.call({
      ctx: { ...callContext(store, request, reply), caller: readerOf(request, connection.signal) },
      getRawInput: () => withLastEventId(endpoint.decode(request), request),
      signal: connection.signal,
    });
    request.server.startWaiting(request, reply);
    reply.headers({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no', // nginx must not collect the events.
    });
    if (request.method === 'HEAD') return reply.send(Readable.from([]));
    const stream = eventStream({
      pages: pages as AsyncGenerator<Page>, // `endpoints` has one subscription.
      partOf: ([, page]) => partOf(page),
      check: () => request.checkTokenAgain(),
      countPart(part) {
        memory.set(request, 'pageBytes', 0);
        return memory.countPart(part);
      },
      connection,
      errorEvent(thrown) {
        const error = toHttpError(thrown);
        if (error.kind === 'shuttingDown') return undefined; // The client connects to another instance.
        request.server.logError(error, request);
        return event('serialized-error', trpcError(error, endpoint.path));
      },
    });
    stream.push(
      `retry: ${retryDelay()}\n${event('connected', { reconnectAfterInactivityMs: reconnectAfterInactivity })}`,
    );
    return reply.send(stream);
  };

  /** Makes the caller of a stream. It holds one page until the page is a part of the stream. */
  function readerOf(request: FastifyRequest, signal: AbortSignal): Caller {
    return {
      get isGone() {
        return request.isGone || signal.aborted;
      },
      // A read can end after its stream. Then nobody would release its page.
      reserve(bytes) {
        if (signal.aborted) return () => {};
        memory.set(request, 'pageBytes', 0);
        const settle = request.reserve(bytes);
        return (used) => {
          if (!signal.aborted) settle(used);
        };
      },
    };
  }
}

/** A page, and the cursor after it. */
type Page = TrackedEnvelope<PlantChanges>;

/** A browser that connects again sends the id of the last event in a header. */
function withLastEventId(input: unknown, { headers, query }: FastifyRequest): unknown {
  const lastEventId = headers['last-event-id'] || Object(query).lastEventId;
  const mayHaveIt = input === undefined || isObject(input);
  return lastEventId && mayHaveIt ? { ...input, lastEventId } : input;
}

/** Milliseconds before a browser connects again, at random, so that clients do not come at once. */
const retryDelay = () => 250 + Math.floor(Math.random() * 750);

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
