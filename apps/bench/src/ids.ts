import type { Ids } from './load.ts';

/** More ids than one load uses. */
const blockSize = 100_000_000;

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
 * The id that the nth plant has where ids are strewn: over 10^10, and never a multiple of 1000,
 * which are those of the plants that were there before.
 */
export function strewn(n: number): number {
  // The factor is prime to 10^7, so that no two plants meet, and no product passes 2^53.
  return (((n % 1e7) * 7_368_787) % 1e7) * 1000 + 1 + Math.floor(n / 1e7);
}
