import type { ChangePage } from './read-changes.ts';

export interface LagState {
  /** How long a transaction has hidden changes from followers, in milliseconds. */
  readonly heldBackFor: number;
  /** `heldBackFor` for each node. The key is the address of the node, or `''` for a single database. */
  readonly heldBackOn: ReadonlyMap<string, number>;
}

/** Measures how long a running transaction has hidden changes from followers. */
export class FeedLag {
  /** For each node, the transaction that hides changes (`by`), and the start of this time (`since`). */
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
