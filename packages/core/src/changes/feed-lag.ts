import type { ChangePage } from './read-changes.ts';

export interface LagState {
  /** The milliseconds for which a transaction has hidden changes. */
  readonly heldBackFor: number;
  /**
   * The milliseconds for which a transaction has hidden changes, by the address of the cluster's node. A
   * single database has the address `''`.
   */
  readonly heldBackOn: ReadonlyMap<string, number>;
}

/** Measures for how long running transactions have hidden changes from followers. */
export class FeedLag {
  /** By node, the transaction that hides changes, and the time at which it began to hide changes. */
  #heldBack = new Map<string, { by: bigint | undefined; since: number }>();

  get state(): LagState {
    const now = performance.now();
    const lags = [...this.#heldBack].map(
      ([node, { by, since }]) => [node, by === undefined ? 0 : now - since] as const,
    );
    return { heldBackFor: Math.max(0, ...lags.map(([, lag]) => lag)), heldBackOn: new Map(lags) };
  }

  /** Call this method with each page at the end of the feed. */
  measure({ heldBackBy }: Pick<ChangePage, 'heldBackBy'>): void {
    const before = this.#heldBack;
    this.#heldBack = new Map();
    for (const [node, by] of heldBackBy) {
      const known = before.get(node);
      const isKnown = known !== undefined && known.by === by;
      this.#heldBack.set(node, isKnown ? known : { by, since: performance.now() });
    }
  }
}
