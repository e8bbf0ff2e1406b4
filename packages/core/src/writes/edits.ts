import type { Plant } from '@plant-store/schemas';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import { type CallOptions, deadlineOf } from '../database/deadline.ts';
import type { Advice } from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { arrayText, contentValues } from '../plants/content.ts';
import { type PlantText, plantsOf } from '../plants/output-text.ts';
import { deletePlants, replacePlant } from '../plants/statements.ts';
import { firstOfEachId, maxRounds, prevented, sendAgain, unsettled } from './send-again.ts';

/** Options of a delete and of a replacement. */
export interface ConditionalOptions extends CallOptions {
  /**
   * Changes the plant only if it still has this ETag: the `etag` of the plant, or the value of the header
   * `If-Match` (RFC 9110 §13.1.1).
   */
  readonly ifMatch?: string | undefined;
}

interface Condition {
  readonly id: bigint;
  /** The expected ETags. Undefined when any plant with the id is expected. */
  readonly etags: readonly string[] | undefined;
  /** Whether it is an error that no plant has the id. */
  readonly mustExist: boolean;
}

type Delete = Call<Condition, boolean>;

const deleteAdvice: Advice = [
  'the plant may or may not be deleted, look it up before you send the delete again',
  'nothing was deleted, send it again later',
];

const replaceAdvice: Advice = [
  'the plant may or may not be replaced, read it before you send the replacement again',
  'nothing was written, send it again later',
];

/**
 * Makes the functions that delete and replace plants. Deletes that wait at the same time share a statement.
 *
 * @param onCommit is called after each statement, and must not throw
 */
export function createEdits(
  { write, connections }: Pick<Database, 'write' | 'connections'>,
  onCommit: () => void,
) {
  const batcher = new Batcher<Condition, boolean>({
    send: (deletes) => deleteTogether(deletes),
    advice: deleteAdvice,
    running: connections.edits,
    batch: 128,
    rowOf: ({ id }) => id,
  });

  return {
    delete: (id: bigint, { ifMatch, ...options }: ConditionalOptions = {}): Promise<boolean> =>
      batcher.run(conditionOf(id, ifMatch), options),
    replace,
    drained: () => batcher.drained(),
  };

  /**
   * The deadline of the statement is the earliest deadline of its deletes. Nobody can confirm a delete after a
   * lost connection, unlike a create: another client may create the plant again.
   */
  async function deleteTogether(calls: readonly Delete[], rounds = maxRounds): Promise<void> {
    const deletes = unsettled(calls);
    if (deletes.length === 0) return;
    const firsts = firstOfEachId(deletes);
    const deadline = Math.min(...deletes.map((each) => each.deadline));
    const values = (time: string) => [
      `{${firsts.map(({ input }) => input.id)}}`,
      arrayText(firsts.map(({ input }) => input.etags?.join())),
      time,
    ];
    try {
      const { rows } = await write<[ids: string, kept: string | null]>(deletePlants, values, {
        kind: 'edits',
        calls: deletes,
        deadline,
        advice: deleteAdvice,
      });
      onCommit();
      const [[ids = '{}', json = null] = []] = rows;
      const deleted = new Set(ids.slice(1, -1).split(','));
      const kept: Record<string, string> = JSON.parse(json ?? '{}');
      for (const call of firsts) if (deleted.has(String(call.input.id))) call.resolve(true);
      // Other deletes of the same ids come after the first delete of each id.
      for (const call of deletes) settle(call, kept[String(call.input.id)]);
    } catch (error) {
      const failure = { error, deadline, advice: deleteAdvice };
      return sendAgain(unsettled(deletes), failure, deleteTogether);
    }
    // Somebody changed or deleted these plants at the same time, or a trigger prevents the delete.
    const again = unsettled(deletes);
    if (rounds > 0) return deleteTogether(again, rounds - 1);
    for (const call of again) call.reject(prevented('keeps'));
  }

  /** @param etag the ETag of the plant that was not deleted, or undefined when there is no plant */
  function settle(call: Delete, etag: string | undefined): void {
    const { id, etags, mustExist } = call.input;
    if (etag === undefined && !mustExist) call.resolve(false);
    else if (etag === undefined || etags?.includes(etag) === false)
      call.reject(preconditionFailed(id));
  }

  /** See `PlantStore.replace`. */
  async function replace(
    id: bigint,
    plant: Plant,
    { ifMatch, ...options }: ConditionalOptions = {},
  ): Promise<PlantText | undefined> {
    const { etags, mustExist } = conditionOf(id, ifMatch);
    const expected = etags ? `{${etags}}` : null;
    const values = (time: string) => [String(id), ...contentValues(plant), expected, time];
    const call = { ...options, deadline: deadlineOf(options) };
    for (let round = 0; round < maxRounds; round++) {
      const { rows } = await write<(string | null)[]>(replacePlant, values, {
        ...call,
        kind: 'edits',
        advice: replaceAdvice,
      });
      onCommit();
      const [[before = null, , ...columns] = []] = rows;
      const [replaced] = plantsOf(columns);
      if (replaced) return replaced;
      if (before === null && !mustExist) return undefined;
      if (before === null || etags?.includes(before) === false) throw preconditionFailed(id);
      // Try again: somebody changed the plant at the same time, or a trigger prevents the replacement.
    }
    throw prevented('keeps');
  }
}

export type Edits = ReturnType<typeof createEdits>;

/** An ETag that no plant can have is left out, so the condition is false for every plant. */
function conditionOf(id: bigint, ifMatch: string | undefined): Condition {
  if (ifMatch === undefined) return { id, etags: undefined, mustExist: false };
  if (ifMatch.trim() === '*') return { id, etags: undefined, mustExist: true };
  // A comma between quotes is a part of an ETag (RFC 9110 §8.8.3).
  const parts = ifMatch.match(/(?:"[^"]*"|[^,])+/g) ?? [];
  const etags = parts.map((each) => each.trim().replace(/^"(.*)"$/, '$1'));
  const known = etags.filter((etag) => /^[1-9]\d{0,19}$/.test(etag) && BigInt(etag) < 2n ** 64n);
  return { id, etags: known, mustExist: true };
}

function preconditionFailed(id: bigint): PlantStoreError {
  const message = `the plant ${id} has changed or was deleted since you read it: read it again`;
  return new PlantStoreError('preconditionFailed', message);
}
