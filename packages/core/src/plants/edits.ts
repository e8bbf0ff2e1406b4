import type { Plant } from '@plant-store/schemas';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import type { CallOptions, Deadline } from '../database/deadline.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { arrayText, contentValues } from './content.ts';
import { type PlantText, plantsOf } from './output-text.ts';
import { deletePlants, replacePlant } from './statements.ts';

/** The options of a delete or a replacement. */
export interface ConditionalOptions extends CallOptions {
  /**
   * Changes the plant only if its ETag still matches. Pass the `etag` that you have read, or the value of the
   * header `If-Match` (RFC 9110 §13.1.1).
   */
  readonly ifMatch?: string | undefined;
}

interface Delete {
  readonly id: bigint;
  /** The expected ETags, or undefined when every ETag is accepted. */
  readonly etags: readonly string[] | undefined;
  /** Whether the call is rejected when no plant has the id. */
  readonly mustExist: boolean;
}

interface Replacement extends Delete {
  readonly plant: Plant;
}

type DeleteCall = Call<Delete, boolean>;
type ReplaceCall = Call<Replacement, PlantText | undefined>;

/**
 * Makes the functions that delete and replace plants. A statement contains several waiting deletes, or one
 * replacement.
 *
 * Without `ifMatch`, an edit is not safe to send again: another client may have edited the plant meanwhile.
 *
 * @param onCommit is called after each committed statement, and must not throw
 */
export function createEdits(
  { write, connections }: Pick<Database, 'write' | 'connections'>,
  onCommit: () => void,
) {
  const deletes = new Batcher<Delete, boolean>({
    send: deleteTogether,
    advice: [
      'the plant may or may not be deleted, look it up before you send the delete again',
      'nothing was deleted, send it again later',
    ],
    running: connections.edits,
    startAt: 128,
    rowOf: ({ id }) => id,
  });
  const replacements = new Batcher<Replacement, PlantText | undefined>({
    send: replace,
    advice: [
      'the plant may or may not be replaced, read it before you send the replacement again',
      'nothing was written, send it again later',
    ],
    running: connections.edits,
    // A statement contains only one replacement.
    ...{ startAt: 1, sizeOf: () => 1, size: 1 },
  });

  return {
    delete: (id: bigint, { ifMatch, ...options }: ConditionalOptions = {}) =>
      deletes.run({ id, ...conditionOf(ifMatch) }, options),
    replace: (id: bigint, plant: Plant, { ifMatch, ...options }: ConditionalOptions = {}) =>
      replacements.run({ id, plant, ...conditionOf(ifMatch) }, options),
    close: () => Promise.all([deletes.close(), replacements.close()]),
  };

  async function deleteTogether(calls: readonly DeleteCall[], deadline: Deadline): Promise<void> {
    const values = (time: string) => [
      `{${calls.map(({ input }) => input.id)}}`,
      arrayText(calls.map(({ input }) => input.etags?.join())),
      time,
    ];
    const { rows } = await write<[ids: string, kept: string | null]>(deletePlants, values, {
      kind: 'edits',
      sharedBy: calls,
      deadline,
    });
    onCommit();
    const [[ids = '{}', json = null] = []] = rows;
    const deleted = new Set(ids.slice(1, -1).split(','));
    const kept: Record<string, string> = JSON.parse(json ?? '{}');
    for (const call of calls) {
      const id = String(call.input.id);
      // Of several calls with the same id, the first call has deleted the plant.
      if (deleted.delete(id)) call.resolve(true);
      else settleUnchanged(call, false, kept[id]);
    }
  }

  async function replace(calls: readonly ReplaceCall[], deadline: Deadline): Promise<void> {
    for (const call of calls) {
      const { id, plant, etags } = call.input;
      const expected = etags ? `{${etags}}` : null;
      const values = (time: string) => [String(id), ...contentValues(plant), expected, time];
      const { rows } = await write<(string | null)[]>(replacePlant, values, {
        kind: 'edits',
        sharedBy: calls,
        deadline,
      });
      onCommit();
      const [[before, , ...columns] = []] = rows;
      const [replaced] = plantsOf(columns);
      if (replaced) call.resolve(replaced);
      else settleUnchanged(call, undefined, before ?? undefined);
    }
  }
}

export type Edits = ReturnType<typeof createEdits>;

/**
 * Settles a call that has changed nothing. A call whose condition is true stays unsettled, because another
 * write came first. `sendUntilSettled` then sends the call again.
 *
 * @param output the output when there is no plant
 * @param etag the ETag of the plant, or undefined when there is no plant
 */
function settleUnchanged<Output>(call: Call<Delete, Output>, output: Output, etag?: string): void {
  const { id, etags, mustExist } = call.input;
  if (etag === undefined && !mustExist) call.resolve(output);
  else if (etag === undefined || etags?.includes(etag) === false)
    call.reject(preconditionFailed(id));
}

/** Parses `If-Match`, and drops ETags that no plant can have. If no ETag is left, the condition is false. */
function conditionOf(ifMatch: string | undefined): Omit<Delete, 'id'> {
  if (ifMatch === undefined) return { etags: undefined, mustExist: false };
  if (ifMatch.trim() === '*') return { etags: undefined, mustExist: true };
  // A comma between quotes is a part of an ETag (RFC 9110 §8.8.3).
  const parts = ifMatch.match(/(?:"[^"]*"|[^,])+/g) ?? [];
  const etags = parts.map((each) => each.trim().replace(/^"(.*)"$/, '$1'));
  const known = etags.filter((etag) => /^[1-9]\d{0,19}$/.test(etag) && BigInt(etag) < 2n ** 64n);
  return { etags: known, mustExist: true };
}

function preconditionFailed(id: bigint): PlantStoreError {
  const message = `the plant ${id} has changed or was deleted since you read it: read it again`;
  return new PlantStoreError('preconditionFailed', message);
}
