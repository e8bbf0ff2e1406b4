import type { SharedTurn } from '@plant-store/core/cluster';

/** The nodes are busy when a statement takes, on average, this many times the shortest duration. */
const busyFactor = 3;

/** The time between two resets of the shortest duration, in milliseconds. */
const period = 10_000;

/** The average counts a longer statement as this many milliseconds. */
const longest = 50;

/**
 * Lets the lanes of busy nodes send their statements one after the other. While a lane waits, its next
 * statement fills with creates, and one full statement costs less than two half-full statements. Lanes to
 * idle nodes do not wait, because waiting would save nothing.
 */
export class NodeTurns implements SharedTurn {
  #running = 0;
  #waiting: (() => void)[] = [];
  /** The moving average of a statement's duration, in milliseconds. */
  #average = 0;
  /** The shortest duration of a statement in this period, and in the previous period, in milliseconds. */
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
