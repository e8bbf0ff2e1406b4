import type { EventEmitter } from 'node:events';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { createFairTurns } from './fair-turns.ts';

/** Milliseconds for which a request may wait for its turn. The database needs the remaining time. */
const maxWait = 4_000;

/** The most creates in one turn, and in one statement. */
const maxCreates = 128;

/**
 * Makes a hook that lets requests continue in turns. Creates have turns of their own, so a flood of other
 * requests does not delay creates.
 *
 * @param onDrop runs in place of the response's hooks when the client disconnects during the wait
 */
export function takeTurn(
  server: EventEmitter,
  onDrop: (request: FastifyRequest) => void,
): onRequestHookHandler {
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
