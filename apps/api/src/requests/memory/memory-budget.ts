import { getHeapStatistics } from 'node:v8';
import { PlantStoreError } from '@plant-store/core';
import type { FastifyRequest } from 'fastify';

/** Each kind of memory may fill half of the budget, so that bodies never take the memory of pages. */
type Kind = 'bodyBytes' | 'pageBytes';

/** The largest budget in bytes. Bodies of a quarter of this size can be read within a deadline. */
const maxBudget = 64 * 2 ** 20;

/**
 * Returns the bytes that all requests may hold together. The process uses more memory than these bytes. A
 * body needs four times its size, and up to 40 times its size while the server parses the body. A page exists
 * three times: as rows, as JSON and as bytes.
 */
export function defaultMemoryBudget(): number {
  return Math.min(maxBudget, Math.floor(getHeapStatistics().heap_size_limit / 8));
}

/** Whether a body or a response is large. Smaller bodies and responses need little memory. */
export function isLarge(bytes: number): boolean {
  return bytes > 16 * 1024;
}

export interface MemoryBudget {
  /**
   * Counts further bytes of a request. A request may exceed the budget when no other request holds bytes
   * of this kind.
   *
   * @throws PlantStoreError `overloaded`
   */
  add(request: FastifyRequest, kind: Kind, bytes: number): void;
  /** Sets the number of bytes that a request holds, even beyond the budget. */
  set(request: FastifyRequest, kind: Kind, bytes: number): void;
  /**
   * Counts a part of event streams, and returns a function that ends the count. A part that several
   * streams share counts once. Returns undefined when pages already fill their half of the budget.
   */
  countPart(part: Buffer): (() => void) | undefined;
}

/** @param budget in bytes */
export function createMemoryBudget(budget: number): MemoryBudget {
  const total = { bodyBytes: 0, pageBytes: 0 };
  /** The number of streams that share each part. */
  const parts = new Map<Buffer, number>();

  return {
    add(request, kind, bytes) {
      const held = request[kind];
      const isLargeBody = kind === 'bodyBytes' && isLarge(held + bytes);
      const isAlone = total[kind] === held;
      if (!isAlone && total[kind] + bytes > (isLargeBody ? budget / 4 : budget / 2)) {
        throw new PlantStoreError('overloaded', messages[kind]);
      }
      set(request, kind, held + bytes);
    },
    set,
    countPart(part) {
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
    },
  };

  function set(request: FastifyRequest, kind: Kind, bytes: number): void {
    total[kind] += bytes - request[kind];
    request[kind] = bytes;
  }
}

const messages: Readonly<Record<Kind, string>> = {
  bodyBytes:
    'the bodies of other requests fill the memory: nothing was written, send the request again later',
  pageBytes:
    'pages that other clients have not read yet fill the memory: send the request again later',
};
