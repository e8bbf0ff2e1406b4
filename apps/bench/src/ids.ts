import type { Ids } from './load.ts';

/** More ids than one load uses. */
const blockSize = 1e8;

/** Ids that no load has used before. */
export class FreeIds {
  #next = 1;

  take(order: Ids['order']): Ids {
    const first = this.#next;
    this.#next += blockSize;
    return { first, order };
  }
}

/**
 * The id of the nth plant where ids are strewn: all over 10^11, and no multiple of 10^4, which are
 * those of the plants that fill a table beforehand.
 */
export function strewn(n: number): number {
  // The factor is prime to 10^7, so that no two plants meet, and no product passes 2^53.
  return (((n % 1e7) * 7_368_787) % 1e7) * 1e4 + 1 + Math.floor(n / 1e7);
}
