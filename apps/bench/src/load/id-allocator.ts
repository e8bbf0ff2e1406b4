import type { IdRange } from './load.ts';

/** More ids than one load uses. */
const rangeSize = 1e8;

/** Gives each load a range of ids that no other load uses. */
export class IdAllocator {
  #next = 1;

  allocate(order: IdRange['order']): IdRange {
    const first = this.#next;
    this.#next += rangeSize;
    return { first, order };
  }
}
