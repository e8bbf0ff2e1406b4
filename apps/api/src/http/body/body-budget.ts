import { Readable } from 'node:stream';
import { getHeapStatistics } from 'node:v8';
import type {
  FastifyRequest,
  onRequestHookHandler,
  onSendHookHandler,
  preParsingHookHandler,
} from 'fastify';
import { bodyLimit, bodyTooLarge, HttpError } from '../../errors/http-error.ts';
import { countValues } from './count-values.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of its body that count towards the budget. */
    bodyBytes: number;
  }
}

/** Whether a body is large: large bodies leave half of the budget to the others. */
export function isLargeBody(bytes: number): boolean {
  return bytes > 16 * 1024;
}

/**
 * Large bodies may fill half of it. The server reads that much well within the deadline of a
 * request.
 */
const maxBudget = 32 * 2 ** 20;

/**
 * The bytes that the bodies of all requests may have together, from the first byte to the response:
 * a 16th of the heap's limit, and at most 32 MiB. A body needs twice its size while it is received,
 * and up to twice its size as text while it waits for the database. Parsing 1 MiB of empty objects
 * takes 40 MiB for a moment.
 */
export function defaultBodyBudget(): number {
  return Math.min(maxBudget, Math.floor(getHeapStatistics().heap_size_limit / 16));
}

/** The hooks that count bodies towards a budget. */
export interface BodyBudget {
  reserveBody: onRequestHookHandler;
  countChunks: preParsingHookHandler;
  releaseBody: onSendHookHandler;
  /** Counts the values of a JSON text, for a caller that keeps them until the response. */
  reserveParsed(request: FastifyRequest, json: string): void;
  /** Releases the body of a request without a response. */
  release(request: FastifyRequest): void;
}

/**
 * Makes the hooks that reject a request when its body and all others together exceed a budget. A
 * body with a `Content-Length` is rejected before any of it is read, a chunked one at the first
 * chunk that is too much. The rest of the body is discarded, so that a client that still sends it
 * reads the error, and the connection stays usable.
 *
 * @param budget in bytes
 */
export function limitBodies(budget: number): BodyBudget {
  let total = 0;

  return {
    reserveBody(request, _reply, done) {
      const length = request.headers['content-length'];
      // A longer body is rejected without being read.
      if (length !== undefined) add(request, Math.min(Number(length), bodyLimit));
      done();
    },
    countChunks(request, _reply, payload, done) {
      if (request.headers['transfer-encoding'] === undefined) return done();
      return done(null, Readable.from(counted(), { objectMode: false }));

      async function* counted() {
        try {
          for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
            if (request.bodyBytes + chunk.length > bodyLimit) throw bodyTooLarge();
            add(request, chunk.length);
            yield chunk;
          }
        } finally {
          payload.resume();
        }
      }
    },
    reserveParsed(request, json) {
      if (isLargeBody(json.length)) add(request, bytesPerValue * countValues(json));
    },
    release,
    releaseBody(request, { raw }, payload, done) {
      // A stream still waits for the database.
      const isStream = typeof payload === 'object' && payload !== null;
      if (isStream && !raw.destroyed) raw.once('close', () => release(request));
      else release(request);
      done();
    },
  };

  function add(request: FastifyRequest, bytes: number): void {
    const isLarge = isLargeBody(request.bodyBytes + bytes);
    const isAlone = total === request.bodyBytes;
    if (!isAlone && total + bytes > (isLarge ? budget / 2 : budget)) {
      throw new HttpError(
        'overloaded',
        'the bodies of other requests fill the memory: nothing was written, send the request again later',
      );
    }
    total += bytes;
    request.bodyBytes += bytes;
  }

  function release(request: FastifyRequest): void {
    total -= request.bodyBytes;
    request.bodyBytes = 0;
  }
}

/** An empty object and its place in an array. */
const bytesPerValue = 64;
