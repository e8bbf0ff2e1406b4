import type { FastifyRequest } from 'fastify';
import { HttpError } from '../../errors/http-error.ts';
import { isLarge } from '../memory/memory-budget.ts';
import { startDeadline } from './deadline.ts';

/** Reads a body that has arrived, now or later. */
export type QueueBody = (request: FastifyRequest, bytes: number, body: BodyReader) => void;

interface BodyReader {
  read(): void;
  /** Called instead of `read` when it is too late for that. */
  fail(error: HttpError): void;
}

/**
 * Makes a function that reads large bodies one after the other, because reading one of 1 MiB takes
 * up to 0.1 s. After each, it pauses for as long as that took, so that small requests and new
 * connections get half of the time. It does not read a body whose client is gone, or whose deadline
 * has passed.
 */
export function createLargeBodyQueue(): QueueBody {
  const waiting: (() => void)[] = [];
  let isBusy = false;

  return (request, bytes, { read, fail }) => {
    startDeadline(request);
    if (!isLarge(bytes)) return read();
    waiting.push(() => (isTooLate(request) ? fail(tooLate()) : read()));
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

function isTooLate(request: FastifyRequest): boolean {
  return request.isGone || performance.now() > startDeadline(request);
}

function tooLate(): HttpError {
  return new HttpError(
    'overloaded',
    'the bodies of other requests took too long to read: nothing was written, send the request again later',
  );
}
