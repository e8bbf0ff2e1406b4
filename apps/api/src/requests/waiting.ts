import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** Limits how many requests wait for changes, because each of these requests keeps a connection. */
export function limitWaiting(max: number) {
  let waiting = 0;

  /** @throws HttpError `overloaded` */
  return (request: FastifyRequest, { elapsedTime, raw }: FastifyReply): void => {
    if (request.waitsFrom !== undefined) return;
    if (waiting >= max) {
      const message = `${max} requests are waiting for changes already: try again later`;
      throw new HttpError('overloaded', message);
    }
    request.waitsFrom = elapsedTime;
    // After a disconnect, no event `close` follows, and `waiting` would count this request for ever.
    if (raw.destroyed) return;
    waiting++;
    raw.once('close', () => waiting--);
  };
}
