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

/** Each kind of memory may fill half of the budget, so that bodies never take the memory of pages. */
type Kind = 'bodyBytes' | 'pageBytes';

/** The largest budget in bytes. Bodies of a quarter of this size can be read within a deadline. */
const maxBudget = 64 * 2 ** 20;

/**
 * Returns the bytes that all requests may hold together. The process uses more memory than these bytes. A
 * body takes four times its size in memory, and up to 40 times its size while the server parses the body. A
 * page exists three times: as rows, as JSON and as bytes.
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
 * Makes the hooks that count the bytes in memory, and reject requests that exceed the budget. The hooks
 * reject a body with a `Content-Length` before they read any byte of the body. The hooks discard the rest of
 * a rejected chunked body, so that the client reads the error.
 *
 * @param budget in bytes
 */
export function limitMemory(budget: number) {
  const total = { bodyBytes: 0, pageBytes: 0 };
  /** The number of streams that share each part. */
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
      // Several requests may share a page, which counts only once. A write gets its response even over the
      // budget.
      if (more > 0 && request.method === 'GET') add(request, 'pageBytes', more);
      else set(request, 'pageBytes', length);
      set(request, 'bodyBytes', 0);
    }
    // A stream stays counted after a disconnect, because its calls may still wait for the database.
    done();
  };

  /** Counts the values of a JSON text, for a caller that keeps them until the response. */
  function reserveParsed(request: FastifyRequest, json: string): void {
    if (isLarge(json.length)) add(request, 'bodyBytes', bytesPerValue * measureJson(json).values);
  }

  /**
   * Reserves memory for a page of a request. `this` is the request. The returned function sets the actual
   * size.
   */
  function reserve(this: FastifyRequest, bytes: number): (bytes: number) => void {
    if (this.isGone) return () => {};
    add(this, 'pageBytes', bytes);
    return (actual) => {
      if (!this.isGone) set(this, 'pageBytes', this.pageBytes + actual - bytes);
    };
  }

  /**
   * Counts a part of event streams, and returns a function that ends the count. A part that several
   * streams share counts once. Returns undefined when pages already fill their half of the budget.
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
   * Counts further bytes of a request. A request may exceed the budget when no other request holds bytes
   * of this kind.
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

  /** Sets the number of bytes that a request holds, even beyond the budget. */
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

/** The memory for an empty object in an array, in bytes. */
const bytesPerValue = 64;

const messages: Readonly<Record<Kind, string>> = {
  bodyBytes:
    'the bodies of other requests fill the memory: nothing was written, send the request again later',
  pageBytes:
    'pages that other clients have not read yet fill the memory: send the request again later',
};
