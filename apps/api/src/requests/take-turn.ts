import type { EventEmitter } from 'node:events';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { createFairTurns } from './fair-turns.ts';

/**
 * Milliseconds for which a request may wait for its turn. The rest of its deadline is for the
 * database.
 */
const maxWait = 4_000;

/** The most creates in one turn. One statement has at most the same number. */
const maxCreates = 128;

/**
 * Makes a hook that lets requests continue in turns. A server that gets more requests than it can process
 * rejects the requests that have waited too long. Creates have turns of their own, so a flood of other
 * requests does not delay them.
 *
 * @param onDrop is called when the client disconnects during the wait. The hooks of the response do not
 *   run then
 */
export function takeTurn(
  server: EventEmitter,
  onDrop: (request: FastifyRequest) => void,
): onRequestHookHandler {
  const creates = createFairTurns({ server, onDrop, maxWait, maxInTurn: maxCreates });
  const others = createFairTurns({ server, onDrop, maxWait });

  return (request, reply, done) => {
    const turns = request.method === 'POST' ? creates : others;
    turns.take(request, (overloaded) => {
      request.waitTime = reply.elapsedTime;
      done(overloaded);
    });
  };
}
