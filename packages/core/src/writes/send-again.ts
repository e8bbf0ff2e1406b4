import type { Call } from '../database/batcher.ts';
import {
  type Advice,
  explainError,
  isSplittable,
  outcomeOf,
  PartsError,
  reasonOf,
} from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/**
 * The maximum number of attempts for a write that changed nothing because another write came first. After so
 * many attempts, a trigger is the only explanation.
 */
export const maxRounds = 100;

/** The error for a plant that a trigger removes after each create, or for which it prevents each delete. */
export function prevented(what: 'does not keep' | 'keeps'): PlantStoreError {
  const advice = 'nothing was written, tell the operator before you send it again';
  return new PlantStoreError('plantRejected', `the table ${what} this plant: ${advice}`);
}

export function unsettled<Each extends { readonly isSettled: boolean }>(calls: readonly Each[]) {
  return calls.filter(({ isSettled }) => !isSettled);
}

/**
 * Returns the first call for each id, ascending by id: an id may occur only once in a statement, and two
 * statements with the same ids in different orders can deadlock.
 */
export function firstOfEachId<Each extends { readonly input: { readonly id: bigint } }>(
  calls: readonly Each[],
): Each[] {
  const sorted = [...calls].sort(({ input: a }, { input: b }) =>
    a.id < b.id ? -1 : a.id > b.id ? 1 : 0,
  );
  return sorted.filter(({ input }, i) => input.id !== sorted[i - 1]?.input.id);
}

/**
 * Continues after the error of a statement. After the deadline of the statement, sends the calls again that
 * have more time. After an error that one row may have caused, sends each half separately. Repeated bisection
 * finds this row, and a half that waits for a lock does not delay the other half. All other calls are rejected.
 */
export async function sendAgain<Input extends { readonly id: bigint }, Output>(
  calls: readonly Call<Input, Output>[],
  { error, deadline, advice }: { error: unknown; deadline: number; advice: Advice },
  send: (calls: Call<Input, Output>[]) => Promise<void>,
): Promise<void> {
  const isLate =
    outcomeOf(error) === 'late' || (isSplittable(error) && performance.now() >= deadline);
  const isShared = isSplittable(error) && calls.length > 1;
  for (const call of calls) {
    if (isLate ? call.deadline <= deadline : !isShared) call.reject(explainError(error, advice));
  }
  const again = unsettled(calls);
  const parts = isLate ? [again] : partsOf(again, error);
  await Promise.all(parts.map((part) => send(part)));
}

/** Divides calls into halves, or into the parts that a cluster names. */
function partsOf<Each extends { readonly input: { readonly id: bigint } }>(
  calls: Each[],
  error: unknown,
): Each[][] {
  const reason = reasonOf(error);
  const middle = calls.length >> 1;
  if (!(reason instanceof PartsError)) return [calls.slice(0, middle), calls.slice(middle)];
  const places = new Map(reason.parts.flatMap((ids, place) => ids.map((id) => [id, place])));
  return [...Map.groupBy(calls, ({ input }) => places.get(String(input.id))).values()];
}
