import type { IdOrder, IdRange } from './load.ts';

/** More ids than one load uses. */
const rangeSize = 1e8;

/** Gives each load a range of ids that no other load uses. */
export class IdAllocator {
  /** The order of a load that needs no other. */
  readonly defaultOrder: IdOrder;
  #next = 1;

  constructor(defaultOrder: IdOrder = 'int64') {
    this.defaultOrder = defaultOrder;
  }

  allocate(order: IdOrder): IdRange {
    const first = this.#next;
    this.#next += rangeSize;
    return { first, order };
  }
}
