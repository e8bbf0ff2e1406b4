import type { onRequestHookHandler, onSendHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** Most replies are far smaller, and are not counted. */
const largeReply = 16 * 1024;

/**
 * Makes the hooks that reject a request to read while large unread replies exceed a budget. A page of
 * plants has up to 1 MiB, and a slow client may take minutes to read it.
 *
 * @param budget in bytes
 */
export function limitReplies(budget: number): {
  checkReplies: onRequestHookHandler;
  countReply: onSendHookHandler;
} {
  let total = 0;

  return {
    checkReplies({ method }, _reply, done) {
      if (total > budget && method === 'GET') {
        throw new HttpError(
          'overloaded',
          'replies that other clients have not read yet fill the memory: send the request again later',
        );
      }
      done();
    },
    countReply(_request, { raw }, payload, done) {
      if (typeof payload === 'string' && payload.length > largeReply && !raw.destroyed) {
        total += payload.length;
        raw.once('close', () => {
          total -= payload.length;
        });
      }
      done();
    },
  };
}
