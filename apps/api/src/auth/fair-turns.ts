/** How many requests continue in one turn of the event loop. */
const maxInTurn = 16;

/** Lets requests continue in turns, so that none of them delays the event loop for long. */
export interface FairTurns {
  /** Resolves when it is the caller's turn; undefined when the caller may continue now. */
  take(): Promise<void> | undefined;
}

/**
 * Makes turns for requests that may come in a flood. In each turn of the event loop only a few of
 * them continue, so a create waits for these few and not for all requests that have arrived.
 */
export function createFairTurns(): FairTurns {
  const waiting: (() => void)[] = [];
  let taken = 0;

  return {
    take() {
      if (taken === 0) setImmediate(nextTurn);
      if (taken++ < maxInTurn) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    },
  };

  function nextTurn(): void {
    const next = waiting.splice(0, maxInTurn);
    taken = next.length;
    if (taken > 0) setImmediate(nextTurn);
    for (const resume of next) resume();
  }
}
