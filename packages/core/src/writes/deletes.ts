import type { Plant } from '@plant-store/schemas';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import { type CallOptions, deadlineOf } from '../database/deadline.ts';
import { isLateWrite, isSplittable, toStoreError } from '../database/errors.ts';
import { preconditionFailed } from '../plant-store-error.ts';
import { arrayText, contentValues } from '../plants/content.ts';
import { PlantText } from '../plants/output-text.ts';
import { plantTexts, valuesOf } from '../plants/plant-json.ts';
import { deletePlants, replacePlant } from '../plants/statements.ts';
import { maxRounds } from './creates.ts';
import { deleteAdvice, plantKept, replaceAdvice } from './write-errors.ts';

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

/** Makes the functions that delete and replace plants. Deletes that wait at the same time share a statement. */
export function createDeletes({ write, connections }: Pick<Database, 'write' | 'connections'>) {
  const batcher = new Batcher<Condition, boolean>({
    what: 'deletes',
    send: (deletes) => deleteTogether(deletes),
    late: () => toStoreError(new Error('no response in time'), deleteAdvice),
    running: connections.deletes,
    batch: 128,
    rowOf: ({ id }) => id,
  });

  return {
    delete: (id: bigint, { ifMatch, ...options }: ConditionalOptions = {}): Promise<boolean> =>
      batcher.run(conditionOf(id, ifMatch), options),
    replace,
    drained: () => batcher.drained(),
  };

  /** The deadline of the statement is the earliest deadline of its deletes. */
  async function deleteTogether(calls: readonly Delete[], rounds = maxRounds): Promise<void> {
    const deletes = calls.filter(({ isSettled }) => !isSettled);
    if (deletes.length === 0) return;
    const firsts = sortedById(deletes);
    const deadline = Math.min(...deletes.map((each) => each.deadline));
    const values = (time: string) => [
      `{${firsts.map(({ input }) => input.id)}}`,
      arrayText(firsts.map(({ input }) => input.etags && `{${input.etags}}`)),
      time,
    ];
    try {
      const { rows } = await write<[string, string | null]>(deletePlants, values, {
        kind: 'deletes',
        calls: deletes,
        deadline,
        until: Number.POSITIVE_INFINITY,
        advice: deleteAdvice,
      });
      const [[deletedText, keptJson] = ['{}', null]] = rows;
      const deleted = new Set(deletedText.slice(1, -1).split(','));
      const kept = new Map<string, unknown>(Object.entries(JSON.parse(keptJson ?? '{}')));
      for (const call of firsts) if (deleted.has(String(call.input.id))) call.resolve(true);
      // Other deletes of the same ids come after the first delete of each id.
      for (const call of deletes) settle(call, kept.get(String(call.input.id)));
    } catch (error) {
      return afterError(deletes, deadline, error);
    }
    // Somebody changed or deleted these plants at the same time, or a trigger prevents the delete.
    const again = deletes.filter(({ isSettled }) => !isSettled);
    if (rounds > 0) return deleteTogether(again, rounds - 1);
    for (const call of again) call.reject(plantKept());
  }

  /** @param etag the ETag of the plant that was not deleted, or undefined when there is no plant */
  function settle(call: Delete, etag: unknown): void {
    const { id, etags, mustExist } = call.input;
    if (etag === undefined && !mustExist) call.resolve(false);
    else if (etag === undefined || etags?.includes(String(etag)) === false)
      call.reject(preconditionFailed(id));
  }

  /** Like the errors of creates, but nobody can confirm a delete: another client may create the plant again. */
  async function afterError(
    deletes: readonly Delete[],
    deadline: number,
    error: unknown,
  ): Promise<void> {
    const rejectAll = (some: readonly Delete[]) => {
      for (const each of some) each.reject(toStoreError(error, deleteAdvice));
    };
    if (isLateWrite(error) || (isSplittable(error) && performance.now() >= deadline)) {
      rejectAll(deletes.filter((each) => each.deadline <= deadline));
      return deleteTogether(deletes);
    }
    if (!isSplittable(error) || deletes.length === 1) return rejectAll(deletes);
    const middle = deletes.length >> 1;
    const halves = [deletes.slice(0, middle), deletes.slice(middle)];
    await Promise.all(halves.map((half) => deleteTogether(half)));
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
        kind: 'deletes',
        advice: replaceAdvice,
      });
      const [[before = null, , ...columns] = []] = rows;
      const [json] = plantTexts(columns);
      if (json !== undefined) return new PlantText(json, etagOf(columns.at(-1)));
      if (before === null && !mustExist) return undefined;
      if (before === null || etags?.includes(before) === false) throw preconditionFailed(id);
      // Try again: somebody changed the plant at the same time, or a trigger prevents the replacement.
    }
    throw plantKept();
  }
}

/** Reads the first of several ETags as JSON texts. */
function etagOf(json: string | null | undefined): string {
  return JSON.parse(valuesOf(json)[0] ?? '""');
}

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

/** Returns the first delete of each id, ascending by id, so that two statements do not deadlock. */
function sortedById(deletes: readonly Delete[]): Delete[] {
  const firsts = new Map<bigint, Delete>();
  for (const call of deletes) if (!firsts.has(call.input.id)) firsts.set(call.input.id, call);
  return [...firsts.values()].sort((a, b) => (a.input.id < b.input.id ? -1 : 1));
}
