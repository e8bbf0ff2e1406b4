import type { Deadline } from '../database/deadline.ts';
import { databaseUnavailable, toStoreError } from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import type { Call } from './call.ts';
import { Coalescer } from './coalescer.ts';

interface LookUpOptions<Key, Value> {
  /** Looks up distinct keys in one statement. */
  readonly find: (keys: Key[], deadline: Deadline) => Promise<Map<Key, Value>>;
  /**
   * The maximum number of simultaneous statements. If two statements run, the second statement can return
   * while the first statement hangs.
   */
  readonly maxInFlight: number;
}

/**
 * Makes a coalescer that looks up values by keys, so that a flood of look-ups does not delay other
 * statements. A look-up throws `databaseUnavailable`, or `overloaded` when too many look-ups wait.
 */
export function createLookUps<Key, Value>({ find, maxInFlight }: LookUpOptions<Key, Value>) {
  return new Coalescer<Key, Value | undefined>({
    send,
    late: () => databaseUnavailable(),
    overloaded: () => new PlantStoreError('overloaded', tooManyWait),
    maxInFlight,
    maxBatch: 32,
  });

  async function send(calls: Call<Key, Value | undefined>[]): Promise<void> {
    try {
      const keys = [...new Set(calls.map(({ input }) => input))];
      const found = await find(keys, Math.max(...calls.map(({ deadline }) => deadline)));
      for (const call of calls) call.resolve(found.get(call.input));
    } catch (error) {
      for (const call of calls) call.reject(toStoreError(error));
    }
  }
}

const tooManyWait = 'too many look-ups are waiting already: send the request again later';
