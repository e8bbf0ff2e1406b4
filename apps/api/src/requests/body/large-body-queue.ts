import { callerDisconnected } from '@plant-store/core/internal';
import type { FastifyRequest } from 'fastify';
import { HttpError, toHttpError } from '../../errors/http-error.ts';
import { isLarge } from '../memory/limit-memory.ts';
import { startDeadline } from '../request-state.ts';

/** Each function reads one large body. All servers of a process share its event loop, and so this queue. */
const waiting: (() => void)[] = [];
let isBusy = false;

/**
 * Calls `read` after the large bodies before this one, because a body of 1 MiB takes up to 0.1 s. `read` gets
 * an error when the request is too late, or when its client has disconnected. After each large body, the
 * queue pauses for as long as the body took, so that other requests get half of the time.
 */
export function queueBody(
  request: FastifyRequest,
  bytes: number,
  read: (error?: HttpError) => void,
): void {
  startDeadline(request);
  if (isLarge(bytes)) {
    waiting.push(() => read(errorOf(request)));
    if (!isBusy) readNext();
  } else read();
}

function readNext(): void {
  const next = waiting.shift();
  isBusy = next !== undefined;
  if (!next) return;
  const startedAt = performance.now();
  next();
  setTimeout(readNext, performance.now() - startedAt);
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
