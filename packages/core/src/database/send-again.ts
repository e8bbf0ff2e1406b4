import { PlantStoreError } from '../plant-store-error.ts';
import type { BatcherOptions, Call } from './batcher.ts';
import { explainError, isSplittable, late, outcomeOf, PartsError, reasonOf } from './errors.ts';

/** After this number of attempts, only a trigger or a rule explains why a write changes nothing. */
const maxAttempts = 100;

/**
 * Sends statements for calls until each call is settled. Never rejects. The deadline of a statement is the
 * earliest deadline of its calls. A write that reaches the database after its deadline changes nothing.
 *
 * - Calls that a statement does not settle are sent again, because another write came first.
 * - After a late statement, which has changed nothing, overdue calls are rejected, and the others are sent again.
 * - After an error that one row may have caused, each half of the calls is sent separately. Repeated
 *   bisection finds this row. Calls for one row are sent one after the other. Calls usually have 5 s, and
 *   Postgres ends a wait for a lock after 4 s, so the half without the locked row can still succeed.
 * - After any other error, all calls are rejected.
 */
export async function sendUntilSettled<Input, Output>(
  calls: readonly Call<Input, Output>[],
  options: Pick<BatcherOptions<Input, Output>, 'send' | 'rowOf' | 'advice'>,
): Promise<void> {
  let open = unsettled(calls);
  let attempts = 0;
  while (open.length > 0 && attempts < maxAttempts) {
    const deadline = Math.min(...open.map((call) => call.deadline));
    try {
      await options.send(open, deadline);
      attempts += 1;
    } catch (error) {
      const now = performance.now();
      const canSplit = open.length > 1 && isSplittable(error);
      const isLate = outcomeOf(error) === 'late' || (canSplit && now >= deadline);
      if (canSplit && !isLate) {
        const parts = partsOf(open, error, options);
        await Promise.all(parts.map((part) => sendUntilSettled(part, options)));
      } else {
        // The clock of the database may be ahead, so the earliest deadline counts as passed.
        const passed = Math.max(deadline, now);
        const rejected = isLate ? open.filter((call) => call.deadline <= passed) : open;
        // An error that one row caused is not the error of another row.
        const reason = canSplit ? late() : reasonOf(error);
        for (const call of rejected) call.reject(explainError(reason, options.advice));
      }
    }
    open = unsettled(open);
  }
  for (const call of open) call.reject(prevented());
}

export function unsettled<Each extends { readonly isSettled: boolean }>(calls: readonly Each[]) {
  return calls.filter(({ isSettled }) => !isSettled);
}

/** Divides calls into halves, or into the parts of a `PartsError`. For one row, returns only one call. */
function partsOf<Input, Output>(
  calls: readonly Call<Input, Output>[],
  error: unknown,
  { rowOf }: Pick<BatcherOptions<Input, Output>, 'rowOf'>,
): (readonly Call<Input, Output>[])[] {
  const reason = reasonOf(error);
  if (!(reason instanceof PartsError)) {
    const rows = [...Map.groupBy(calls, (call) => rowOf?.(call.input) ?? call).values()];
    if (rows.length === 1) return [calls.slice(0, 1)];
    const middle = rows.length >> 1;
    return [rows.slice(0, middle).flat(), rows.slice(middle).flat()];
  }
  const places = new Map(reason.parts.flatMap((ids, place) => ids.map((id) => [id, place])));
  return [...Map.groupBy(calls, ({ input }) => places.get(String(rowOf?.(input)))).values()];
}

function prevented(): PlantStoreError {
  const advice = 'nothing was written, tell the operator before you send it again';
  const message = `a trigger or a rule of the table prevents this: ${advice}`;
  return new PlantStoreError('plantRejected', message);
}
