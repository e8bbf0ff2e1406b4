import type { EventEmitter } from 'node:events';
import type { FastifyRequest } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

type Next = (overloaded?: HttpError) => void;

/** Calls `next` when the request may continue. Passes an error to `next` when the request waited too long. */
type TakeTurn = (request: FastifyRequest, next: Next) => void;

interface FairTurnsOptions {
  /** The most requests that continue in one turn of the event loop. */
  readonly maxInTurn?: number;
  /** The most milliseconds that a request waits before its rejection. The default is no limit. */
  readonly maxWait?: number;
  /** Called instead of `next` when the client of the request has disconnected. */
  readonly onDrop?: (request: FastifyRequest) => void;
  /** Emits `connection` for each connection that the event loop accepts. */
  readonly server?: EventEmitter;
}

interface Waiting {
  readonly request: FastifyRequest;
  readonly next: Next;
  readonly since: number;
}

/**
 * Lets only a few requests continue in each turn of the event loop, because many may arrive at the same time.
 * In a turn that has accepted a connection, even fewer requests continue: more connections may be waiting,
 * and Node accepts only one connection in each turn (nodejs/node#57364).
 */
export function createFairTurns({
  maxInTurn = 16,
  maxWait = Number.POSITIVE_INFINITY,
  onDrop,
  server,
}: FairTurnsOptions = {}): TakeTurn {
  const waiting: Waiting[] = [];
  const late: Waiting[] = [];
  let continued = 0;
  let connections = 0;
  let isScheduled = false;
  let turnStart = 0;
  server?.on('connection', () => connections++);

  return (request, next) => {
    if (!isScheduled) scheduleTurn();
    if (waiting.length > 0 || continued >= maxInTurn) {
      // The request arrived before this turn of the event loop, so `since` is the start of the turn.
      waiting.push({ request, next, since: turnStart });
    } else {
      continued++;
      next();
    }
  };

  function scheduleTurn(): void {
    isScheduled = true;
    turnStart = performance.now();
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    const max = connections > 0 ? Math.min(connections, maxInTurn) : maxInTurn;
    const oldest = performance.now() - maxWait;
    continued = 0;
    while (continued < max) {
      const first = firstOf(waiting);
      if (!first) break;
      if (first.since < oldest) {
        late.push(first);
      } else {
        continued++;
        first.next();
      }
    }
    rejectLate();
    connections = 0;
    isScheduled = false;
    if (continued > 0 || late.length > 0) scheduleTurn();
  }

  /** A rejection takes as long as a create, so late requests get only an eighth of a turn's time. */
  function rejectLate(): void {
    const now = performance.now();
    const until = now + (now - turnStart) / 8;
    for (
      let free = Math.max(1, maxInTurn - continued);
      free > 0 || performance.now() < until;
      free--
    ) {
      const first = firstOf(late);
      if (!first) return;
      first.next(overloaded);
    }
  }

  function firstOf(list: Waiting[]): Waiting | undefined {
    for (;;) {
      const first = list.shift();
      if (!onDrop || !first?.request.isGone) return first;
      onDrop(first.request);
    }
  }
}

/** All late requests share one error object, because Node needs much time for the stack of a new object. */
const overloaded = new HttpError(
  'overloaded',
  'more requests have arrived than the server can process in time: nothing was written, send the request again later',
);
