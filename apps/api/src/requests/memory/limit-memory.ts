import { Readable } from 'node:stream';
import { getHeapStatistics } from 'node:v8';
import { PlantStoreError } from '@plant-store/core';
import type {
  FastifyRequest,
  onRequestHookHandler,
  onSendHookHandler,
  preParsingHookHandler,
} from 'fastify';
import { bodyLimit, bodyTooLarge } from '../../errors/http-error.ts';
import { measureJson } from './measure-json.ts';

/** Bodies and pages may each fill half of the budget, so that neither can use up the memory of the other. */
type Kind = 'bodyBytes' | 'pageBytes';

/** The largest budget in bytes. Large bodies get a quarter, which the server can read before a deadline. */
const maxBudget = 64 * 2 ** 20;

/**
 * Returns the most bytes that the bodies and pages of all requests may have together. A body takes four times
 * its size in memory, and up to 40 times its size while the server parses the body. A page takes three times
 * its size, because it exists as rows, as JSON and as bytes.
 */
export function defaultMemoryBudget(): number {
  return Math.min(maxBudget, Math.floor(getHeapStatistics().heap_size_limit / 8));
}

/** Whether a body or a response is large. Smaller bodies and responses need little memory. */
export function isLarge(bytes: number): boolean {
  return bytes > 16 * 1024;
}

export type MemoryLimits = ReturnType<typeof limitMemory>;

/**
 * Makes the hooks that count the bytes in memory, and reject requests that exceed the budget. When a request
 * has a `Content-Length`, the hooks reject the request before they read its body. When a chunked body exceeds
 * the budget, the hooks discard its remaining bytes, so that the client reads the error.
 *
 * @param budget in bytes
 */
export function limitMemory(budget: number) {
  const total = { bodyBytes: 0, pageBytes: 0 };
  /** How many event streams send each part. */
  const parts = new Map<Buffer, number>();

  const reserveBody: onRequestHookHandler = (request, _reply, done) => {
    const length = request.headers['content-length'];
    if (length !== undefined) add(request, 'bodyBytes', Math.min(Number(length), bodyLimit));
    done();
  };

  const countChunks: preParsingHookHandler = (request, _reply, payload, done) => {
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
  };

  const countResponse: onSendHookHandler = (request, { raw }, payload, done) => {
    const isStream = typeof payload === 'object' && payload !== null;
    const length = typeof payload === 'string' && isLarge(payload.length) ? payload.length : 0;
    if (raw.destroyed || (!isStream && length === 0)) release(request);
    else raw.once('close', () => release(request));
    if (length > 0 && !raw.destroyed) {
      const more = length - request.pageBytes;
      // When requests share a page, only one of them has reserved memory for the page. The response to a
      // write is never rejected, even when the response exceeds the budget.
      if (more > 0 && request.method === 'GET') add(request, 'pageBytes', more);
      else set(request, 'pageBytes', length);
      set(request, 'bodyBytes', 0);
    }
    // The body of a request for a stream counts until the response closes, because its calls may still wait.
    done();
  };

  /** Counts the parsed values of a JSON text, for a request that needs the values until its response. */
  function reserveParsed(request: FastifyRequest, json: string): void {
    if (isLarge(json.length)) add(request, 'bodyBytes', bytesPerValue * measureJson(json).values);
  }

  /** Reserves memory for a page of the request `this`. The returned function sets the page's actual size. */
  function reserve(this: FastifyRequest, bytes: number): (bytes: number) => void {
    if (this.isGone) return () => {};
    add(this, 'pageBytes', bytes);
    return (actual) => {
      if (!this.isGone) set(this, 'pageBytes', this.pageBytes + actual - bytes);
    };
  }

  /**
   * Counts the memory of a part of an event stream, only once when several streams send the same part. The
   * returned function ends the count. Returns undefined when pages already fill half of the budget.
   */
  function countPart(part: Buffer): (() => void) | undefined {
    if (total.pageBytes > budget / 2) return undefined;
    const streams = parts.get(part) ?? 0;
    if (streams === 0) total.pageBytes += part.length;
    parts.set(part, streams + 1);
    return () => {
      const left = (parts.get(part) ?? 0) - 1;
      parts.set(part, left);
      if (left > 0) return;
      parts.delete(part);
      total.pageBytes -= part.length;
    };
  }

  /** Releases the memory of a request that gets no response. */
  function release(request: FastifyRequest): void {
    set(request, 'bodyBytes', 0);
    set(request, 'pageBytes', 0);
  }

  /**
   * Counts further bytes of a request, even over the budget if no other request has bytes of this kind.
   *
   * @throws PlantStoreError `overloaded`
   */
  function add(request: FastifyRequest, kind: Kind, bytes: number): void {
    const held = request[kind];
    const isLargeBody = kind === 'bodyBytes' && isLarge(held + bytes);
    const isAlone = total[kind] === held;
    if (!isAlone && total[kind] + bytes > (isLargeBody ? budget / 4 : budget / 2)) {
      throw new PlantStoreError('overloaded', messages[kind]);
    }
    set(request, kind, held + bytes);
  }

  /** Sets the number of bytes of a request, even when the number exceeds the budget. */
  function set(request: FastifyRequest, kind: Kind, bytes: number): void {
    total[kind] += bytes - request[kind];
    request[kind] = bytes;
  }

  return {
    reserveBody,
    countChunks,
    countResponse,
    reserveParsed,
    reserve,
    countPart,
    release,
    set,
  };
}

/** An empty object in an array takes this number of bytes in memory. */
const bytesPerValue = 64;

const messages: Readonly<Record<Kind, string>> = {
  bodyBytes:
    'the bodies of other requests fill the memory: nothing was written, send the request again later',
  pageBytes:
    'pages that other clients have not read yet fill the memory: send the request again later',
};
