import type { SharedTurn } from '@plant-store/core/cluster';

/** The nodes are busy when the average statement takes this many times as long as the shortest one. */
const busyFactor = 3;

/** Milliseconds after which a new search for the shortest statement begins. */
const period = 10_000;

/**
 * A longer statement counts as this many milliseconds, so that one slow statement changes the average little.
 */
const longest = 50;

/**
 * While the nodes of a cluster are busy, lets their lanes send one after the other. Each statement then has
 * more creates: two half-full statements cost more than a full one. While the nodes are not busy, the lanes
 * do not wait for each other, because waiting would save nothing.
 */
export class NodeTurns implements SharedTurn {
  #running = 0;
  #waiting: (() => void)[] = [];
  /** Milliseconds that a statement takes, as a moving average. */
  #average = 0;
  /** Milliseconds of the shortest statement, in this period and in the previous one. */
  #shortest = Number.POSITIVE_INFINITY;
  #shortestBefore = Number.POSITIVE_INFINITY;
  #periodEndsAt = 0;

  mustWait(send: () => void): boolean {
    if (this.#running === 0 || !this.#isBusy) return false;
    if (!this.#waiting.includes(send)) this.#waiting.push(send);
    return true;
  }

  take(): () => void {
    this.#running++;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#running--;
      for (const send of this.#waiting.splice(0)) send();
    };
  }

  ended(milliseconds: number): void {
    this.#average += (Math.min(milliseconds, longest) - this.#average) / 8;
    if (performance.now() > this.#periodEndsAt) {
      this.#periodEndsAt = performance.now() + period;
      this.#shortestBefore = this.#shortest;
      this.#shortest = Number.POSITIVE_INFINITY;
    }
    this.#shortest = Math.min(this.#shortest, milliseconds);
  }

  get #isBusy(): boolean {
    return this.#average > busyFactor * Math.min(this.#shortest, this.#shortestBefore);
  }
}
