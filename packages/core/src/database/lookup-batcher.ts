import { PlantStoreError } from '../plant-store-error.ts';
import { queryTimeout, queryWithTimeout } from './timeout.ts';

interface LookupBatcherOptions<Key, Value> {
  /** Looks up distinct keys in one statement. */
  find: (keys: Key[]) => Promise<Map<Key, Value>>;
  /** What is looked up, for messages: `access tokens`. */
  what: string;
}

/** Statements that run at the same time: when one hangs, the other still returns. */
const maxInFlight = 2;

/** Milliseconds after which a statement is slow, so that a partly filled one may follow. */
const slowAfter = 50;

/** Look-ups in one statement, at most. */
const maxBatch = 128;

/** Look-ups that may wait for a statement, at most. */
const maxQueue = 10_000;

/**
 * Makes a function that looks up a value by its key. While a statement runs, further look-ups wait and
 * are then sent together in one statement, so that a flood of them does not delay the others. A second
 * statement starts beside the first only when it is full or the first one is slow: two half-full
 * statements cost more than a full one. The function throws a PlantStoreError: `databaseUnavailable`,
 * or `overloaded` when too many look-ups wait.
 */
export function createLookupBatcher<Key, Value>({
  find,
  what,
}: LookupBatcherOptions<Key, Value>): (key: Key, timeout?: number) => Promise<Value | undefined> {
  type Lookup = PromiseWithResolvers<Value | undefined> & { readonly key: Key };
  const queue = new Set<Lookup>();
  let inFlight = 0;
  /** The batches in flight that are not slow yet. */
  const recentlySent = new Set<Lookup[]>();

  return async (key, timeout = queryTimeout) => {
    if (queue.size >= maxQueue) {
      const message = `too many ${what} are being looked up: send the request again later`;
      throw new PlantStoreError('overloaded', message);
    }
    const lookup = { key, ...Promise.withResolvers<Value | undefined>() };
    queue.add(lookup);
    send();
    try {
      return await queryWithTimeout(lookup.promise, timeout);
    } finally {
      queue.delete(lookup); // After a timeout it may still be in the queue.
    }
  };

  function send(): void {
    while (queue.size > 0 && inFlight < maxInFlight) {
      if (recentlySent.size > 0 && queue.size < maxBatch) return;
      const batch = [...queue.values().take(maxBatch)];
      for (const lookup of batch) queue.delete(lookup);
      inFlight++;
      recentlySent.add(batch);
      const slowTimer = setTimeout(() => {
        recentlySent.delete(batch);
        send();
      }, slowAfter);
      void findAll(batch).then(() => {
        clearTimeout(slowTimer);
        recentlySent.delete(batch);
        inFlight--;
        send();
      });
    }
  }

  /** Answers the look-ups of a batch. The promise is never rejected. */
  async function findAll(batch: Lookup[]): Promise<void> {
    try {
      const found = await find([...new Set(batch.map(({ key }) => key))]);
      for (const { key, resolve } of batch) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
