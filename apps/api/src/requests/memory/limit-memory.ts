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

/** The hooks that count the bytes in memory, and reject requests that exceed the budget. */
export interface MemoryLimits extends Pick<MemoryBudget, 'set' | 'countPart'> {
  reserveBody: onRequestHookHandler;
  countChunks: preParsingHookHandler;
  countResponse: onSendHookHandler;
  /** Counts the values of a JSON text, for a caller that keeps them until the response. */
  reserveParsed(request: FastifyRequest, json: string): void;
  /**
   * Reserves memory for a page of the request that is `this`, and returns a function that sets the actual
   * size.
   */
  reserve(this: FastifyRequest, bytes: number): (bytes: number) => void;
  /** Releases the memory of a request that gets no response. */
  release(request: FastifyRequest): void;
}

/**
 * Makes the hooks. The hooks reject a body with a `Content-Length` before they read any byte of the body.
 * The hooks discard the rest of a rejected chunked body, so that the client reads the error.
 */
export function limitMemory({ add, set, countPart }: MemoryBudget): MemoryLimits {
  return {
    set,
    countPart,
    reserveBody(request, _reply, done) {
      const length = request.headers['content-length'];
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
        // Several requests may share a page, which counts only once. A write gets its response even over the
        // budget.
        if (more > 0 && request.method === 'GET') add(request, 'pageBytes', more);
        else set(request, 'pageBytes', length);
        set(request, 'bodyBytes', 0);
      }
      // A stream stays counted after a disconnect, because its calls may still wait for the database.
      done();
    },
  };

  function release(request: FastifyRequest): void {
    set(request, 'bodyBytes', 0);
    set(request, 'pageBytes', 0);
  }
}

/** The memory for an empty object in an array, in bytes. */
const bytesPerValue = 64;
