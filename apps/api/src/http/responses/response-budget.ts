import type { onRequestHookHandler, onSendHookHandler } from 'fastify';
import { HttpError } from '../../errors/http-error.ts';

/** Most responses are far smaller, and are not counted. */
const largeResponse = 16 * 1024;

export interface ResponseBudget {
  checkResponses: onRequestHookHandler;
  countResponse: onSendHookHandler;
  /**
   * Counts a part of a stream, and returns a function that ends that. Several streams may share a
   * part, which counts once. Returns undefined when unread responses exceed the budget already.
   */
  countPart(part: Buffer): (() => void) | undefined;
}

/**
 * Makes the hooks that reject a request to read while large unread responses exceed a budget. A
 * page of plants has up to 1 MiB, and a slow client may take minutes to read it.
 *
 * @param budget in bytes
 */
export function limitResponses(budget: number): ResponseBudget {
  let total = 0;
  /** How many streams have each part. */
  const parts = new Map<Buffer, number>();

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
    countPart(part) {
      if (total > budget) return undefined;
      const streams = parts.get(part) ?? 0;
      if (streams === 0) total += part.length;
      parts.set(part, streams + 1);
      return () => {
        const left = (parts.get(part) ?? 0) - 1;
        parts.set(part, left);
        if (left > 0) return;
        parts.delete(part);
        total -= part.length;
      };
    },
  };
}
