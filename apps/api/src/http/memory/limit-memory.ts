import { Readable } from 'node:stream';
import type {
  FastifyRequest,
  onRequestHookHandler,
  onSendHookHandler,
  preParsingHookHandler,
} from 'fastify';
import { bodyLimit, bodyTooLarge } from '../../errors/http-error.ts';
import { measureJson } from './measure-json.ts';
import { isLarge, type MemoryBudget } from './memory-budget.ts';

/** The hooks that count what requests hold in memory, and reject what exceeds the budget. */
export interface MemoryLimits {
  reserveBody: onRequestHookHandler;
  countChunks: preParsingHookHandler;
  countResponse: onSendHookHandler;
  /** Counts the values of a JSON text, for a caller that keeps them until the response. */
  reserveParsed(request: FastifyRequest, json: string): void;
  /** The method of a request. */
  reserve(this: FastifyRequest, bytes: number): (bytes: number) => void;
  /** Releases what a request without a response holds. */
  release(request: FastifyRequest): void;
}

/**
 * Makes the hooks. A body with a `Content-Length` is rejected before any of it is read, a chunked one at the
 * first chunk that is too much. The rest of the body is discarded, so that a client that still sends it
 * reads the error, and the connection stays usable. A page is rejected before its statement is sent.
 */
export function limitMemory({ add, set }: MemoryBudget): MemoryLimits {
  return {
    reserveBody(request, _reply, done) {
      const length = request.headers['content-length'];
      // A longer body is rejected without being read.
      if (length !== undefined) add(request, 'bodyBytes', Math.min(Number(length), bodyLimit));
      done();
    },
    countChunks(request, _reply, payload, done) {
      if (request.headers['transfer-encoding'] === undefined) return done();
      return done(null, Readable.from(counted(), { objectMode: false }));

      async function* counted() {
        try {
          for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
            if (request.bodyBytes + chunk.length > bodyLimit) throw bodyTooLarge();
            add(request, 'bodyBytes', chunk.length);
            yield chunk;
          }
        } finally {
          payload.resume();
        }
      }
    },
    reserveParsed(request, json) {
      if (isLarge(json.length)) add(request, 'bodyBytes', bytesPerValue * measureJson(json).values);
    },
    reserve(bytes) {
      if (this.isGone) return () => {};
      add(this, 'pageBytes', bytes);
      return (actual) => {
        if (!this.isGone) set(this, 'pageBytes', this.pageBytes + actual - bytes);
      };
    },
    release,
    countResponse(request, { raw }, payload, done) {
      const isStream = typeof payload === 'object' && payload !== null;
      const length = typeof payload === 'string' && isLarge(payload.length) ? payload.length : 0;
      if (raw.destroyed || (!isStream && length === 0)) release(request);
      else raw.once('close', () => release(request));
      if (length > 0 && !raw.destroyed) {
        const more = length - request.pageBytes;
        // Only here, a page that many wait for is counted. A write gets its response in any case.
        if (more > 0 && request.method === 'GET') add(request, 'pageBytes', more);
        else set(request, 'pageBytes', length);
        set(request, 'bodyBytes', 0);
      }
      done(); // A stream still waits for the database.
    },
  };

  function release(request: FastifyRequest): void {
    set(request, 'bodyBytes', 0);
    set(request, 'pageBytes', 0);
  }
}

/** An empty object and its place in an array. */
const bytesPerValue = 64;
