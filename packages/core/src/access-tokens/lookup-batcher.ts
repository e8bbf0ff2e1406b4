import { queryWithTimeout } from '../database/timeout.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import type { AccessToken, AccessTokenTable } from './access-token-table.ts';

/** Statements that run at the same time: when one hangs, the other still returns. */
const maxInFlight = 2;

/** Access tokens in one statement, at most. */
const maxBatch = 128;

/** Look-ups that may wait for a statement, at most. */
const maxQueue = 10_000;

/**
 * Makes a function that finds an access token by its SHA-256. While statements run, further look-ups
 * wait and are then sent together in one statement, so that a flood of unknown tokens does not delay
 * valid ones. The function throws a PlantStoreError: `databaseUnavailable`, or `overloaded` when too
 * many look-ups wait.
 */
export function createLookupBatcher(
  table: Pick<AccessTokenTable, 'find'>,
): (sha256: string) => Promise<AccessToken | undefined> {
  const queue = new Set<Lookup>();
  let inFlight = 0;

  return async (sha256) => {
    if (queue.size >= maxQueue) {
      const message = 'too many access tokens are being looked up: send the request again later';
      throw new PlantStoreError('overloaded', message);
    }
    const lookup = { sha256, ...Promise.withResolvers<AccessToken | undefined>() };
    queue.add(lookup);
    send();
    try {
      return await queryWithTimeout(lookup.promise);
    } finally {
      queue.delete(lookup); // After a timeout it may still be in the queue.
    }
  };

  function send(): void {
    while (queue.size > 0 && inFlight < maxInFlight) {
      const batch = [...queue.values().take(maxBatch)];
      for (const lookup of batch) queue.delete(lookup);
      inFlight++;
      void find(batch).then(() => {
        inFlight--;
        send();
      });
    }
  }

  /** Answers the look-ups of a batch. The promise is never rejected. */
  async function find(batch: Lookup[]): Promise<void> {
    try {
      const found = await table.find(batch.map(({ sha256 }) => sha256));
      for (const { sha256, resolve } of batch) resolve(found.get(sha256));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

interface Lookup extends PromiseWithResolvers<AccessToken | undefined> {
  readonly sha256: string;
}
