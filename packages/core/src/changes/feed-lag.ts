import type { ChangePage } from './read-changes.ts';

export interface LagState {
  /** How long a transaction has hidden changes from followers, in milliseconds. */
  readonly heldBackFor: number;
}

/** Measures how long a running transaction has hidden changes from followers. */
export class FeedLag {
  /** The transaction that hides changes (`by`), and the start of this time (`since`). */
  #heldBack: { by: bigint; since: number } | undefined;

  get state(): LagState {
    return { heldBackFor: this.#heldBack ? performance.now() - this.#heldBack.since : 0 };
  }

  /** Call this method with each page at the end of the feed. */
  measure({ heldBackBy: by }: Pick<ChangePage, 'heldBackBy'>): void {
    if (by === undefined) this.#heldBack = undefined;
    else if (this.#heldBack?.by !== by) this.#heldBack = { by, since: performance.now() };
  }
}
