import type { onRequestHookHandler, onSendHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** Most responses are far smaller, and are not counted. */
const largeResponse = 16 * 1024;

/**
 * Makes the hooks that reject a request to read while large unread responses exceed a budget. A
 * page of plants has up to 1 MiB, and a slow client may take minutes to read it.
 *
 * @param budget in bytes
 */
export function limitResponses(budget: number): {
  checkResponses: onRequestHookHandler;
  countResponse: onSendHookHandler;
} {
  let total = 0;

  return {
    checkResponses({ method }, _reply, done) {
      if (total > budget && method === 'GET') {
        throw new HttpError(
          'overloaded',
          'responses that other clients have not read yet fill the memory: send the request again later',
        );
      }
      done();
    },
    countResponse(_request, { raw }, payload, done) {
      if (typeof payload === 'string' && payload.length > largeResponse && !raw.destroyed) {
        total += payload.length;
        raw.once('close', () => {
          total -= payload.length;
        });
      }
      done();
    },
  };
}
