import type { EventEmitter } from 'node:events';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { createFairTurns } from './fair-turns.ts';

/** Milliseconds that a request may wait for its turn. The rest of its time limit is for the database. */
const maxWait = 4_000;

/** The maximum number of `POST` requests in one turn. A statement usually has at most as many creates. */
const maxCreates = 128;

/**
 * Makes a hook that lets only a few requests continue in each turn of the event loop. `POST` requests
 * have a queue of their own, so that a flood of other requests does not delay creates.
 */
export function takeTurn(server: EventEmitter): onRequestHookHandler {
  const creates = createFairTurns({ server, onDrop, maxWait, maxInTurn: maxCreates });
  const others = createFairTurns({ server, onDrop, maxWait });

  return (request, reply, done) => {
    const takeTurnOf = request.method === 'POST' ? creates : others;
    takeTurnOf(request, (overloaded) => {
      request.waitTime = reply.elapsedTime;
      done(overloaded);
    });
  };
}

/** Releases the memory of a request that gets no response, because its client has disconnected. */
function onDrop(request: FastifyRequest): void {
  request.server.memory.release(request);
}
