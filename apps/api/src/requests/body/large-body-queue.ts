import { callerDisconnected } from '@plant-store/core/internal';
import type { FastifyRequest } from 'fastify';
import { HttpError, toHttpError } from '../../errors/http-error.ts';
import { isLarge } from '../memory/limit-memory.ts';
import { startDeadline } from '../request-state.ts';

/**
 * Calls `read` after the large bodies before this one. `read` gets an error when the request is too late, or
 * when its client has disconnected.
 */
export type QueueBody = (
  request: FastifyRequest,
  bytes: number,
  read: (error?: HttpError) => void,
) => void;

/**
 * Makes a function that reads large bodies one after the other, because a body of 1 MiB takes up to 0.1 s.
 * After each body, the function pauses for as long as the body took, so that other requests get half of the
 * time.
 */
export function createLargeBodyQueue(): QueueBody {
  const waiting: (() => void)[] = [];
  let isBusy = false;

  return (request, bytes, read) => {
    startDeadline(request);
    if (!isLarge(bytes)) return read();
    waiting.push(() => read(errorOf(request)));
    if (!isBusy) readNext();
  };

  function readNext(): void {
    const next = waiting.shift();
    isBusy = next !== undefined;
    if (!next) return;
    const startedAt = performance.now();
    next();
    setTimeout(readNext, performance.now() - startedAt);
  }
}

function errorOf(request: FastifyRequest): HttpError | undefined {
  if (request.isGone) return toHttpError(callerDisconnected());
  return performance.now() > startDeadline(request) ? tooLate() : undefined;
}

function tooLate(): HttpError {
  return new HttpError(
    'overloaded',
    'the bodies of other requests took too long to read: nothing was written, send the request again later',
  );
}
