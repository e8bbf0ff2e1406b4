import type { NewPlant } from '@plant-store/schemas';
import { carry } from '../database/diagnostics.ts';
import { isDataError, isLateWrite, isUnconfirmed } from '../database/errors.ts';
import { databaseCode } from '../error-causes.ts';
import { idTaken, type PlantStoreError } from '../plant-store-error.ts';
import { hasSameContent } from '../plants/columns.ts';
import {
  insertError,
  outcomeUnknown,
  plantNotKept,
  plantRejected,
} from '../plants/create-errors.ts';
import { maxRounds, type PlantStatements } from '../plants/statements.ts';
import type { Call } from './call.ts';

/** The outcome of a create: the plant was created, or the same plant was already stored. */
export type CreateOutcome = 'created' | 'exists';

/** A create that waits for the database. */
export type Create = Call<NewPlant, CreateOutcome>;

/** An insert statement that took `milliseconds` to commit `size` plants. */
export interface CommittedBatch {
  size: number;
  milliseconds: number;
}

/**
 * Inserts the plants of a batch in one statement, and settles the creates of the batch. If the database
 * rejects the statement because of a plant, writes the halves of the batch separately. The promise is never
 * rejected.
 *
 * The deadline of the statement is the earliest deadline of its creates. A statement that reaches the
 * database after this deadline changes nothing. The database cancels a statement that is running at this
 * deadline. After a late or cancelled statement, the creates with later deadlines are written again. Nobody
 * can cancel a commit. While a statement is committing, its creates wait until the commit ends.
 *
 * @param onCommit is called after each insert statement, and must not throw
 */
export async function writeBatch(
  statements: Pick<PlantStatements, 'insert' | 'findDurable'>,
  batch: readonly Create[],
  onCommit: (committed: CommittedBatch) => void,
  rounds = maxRounds,
): Promise<void> {
  const creates = batch.filter(({ isSettled }) => !isSettled);
  if (creates.length === 0) return;
  const again = (some: Create[], left = rounds) =>
    carry(some, (carried) => writeBatch(statements, carried, onCommit, left));
  const plants = sortedById(creates);
  const deadlines = creates.map((create) => create.deadline);
  const [deadline, until] = [Math.min(...deadlines), Math.max(...deadlines)];
  let isInserted = false;
  try {
    const sentAt = performance.now();
    const inserted = await statements.insert(plants, deadline, until);
    isInserted = true;
    onCommit({ size: plants.length, milliseconds: performance.now() - sentAt });
    // The inserted plants are committed, so the creates of these plants are settled now. A create whose id is
    // taken waits for a second statement.
    const created = new Set(inserted);
    for (const create of creates) if (created.delete(create.input.id)) create.resolve('created');
    if (inserted.size === creates.length) return; // In almost every batch, all ids are free.
    const taken = plants.flatMap(({ id }) => (inserted.has(id) ? [] : [id]));
    const stored: Map<bigint, NewPlant> =
      taken.length > 0 ? await statements.findDurable(taken, deadline, until) : new Map();
    for (const plant of plants) if (inserted.has(plant.id)) stored.set(plant.id, plant);
    // The plant that had the id of such a create was deleted between the insert and `findDurable`.
    const deleted = creates.filter((create) => !create.isSettled && !settle(create, stored));
    if (rounds === 0) return rejectAll(deleted, plantNotKept());
    await again(deleted, rounds - 1);
  } catch (error) {
    if (!isInserted && isUnconfirmed(error)) return confirm(statements, creates, error);
    // After a successful insert, only the creates with taken ids remain. An earlier attempt may have stored
    // the plants whose ids are taken.
    const known = isInserted ? outcomeUnknown(error) : insertError(error);
    const isLate =
      isLateWrite(error) || (databaseCode(error) === '57014' && performance.now() >= deadline);
    if (isLate || isUnconfirmed(error)) {
      rejectAll(
        creates.filter((create) => create.deadline === deadline),
        known,
      );
      return again(creates);
    }
    if (!isDataError(error)) return rejectAll(creates, known);
    if (creates.length === 1) return rejectAll(creates, plantRejected(error));
    await bisect(creates, (half) => again(half));
  }
}

/**
 * Settles creates whose commit the standby has not confirmed. Does not insert the plants again, because a
 * second insert could restore plants that a client has already deleted.
 */
async function confirm(
  { findDurable }: Pick<PlantStatements, 'findDurable'>,
  creates: readonly Create[],
  cause: unknown,
): Promise<void> {
  const left = creates.filter(({ isSettled }) => !isSettled);
  if (left.length === 0) return;
  const ids = left.map(({ input }) => input.id);
  const deadlines = left.map(({ deadline }) => deadline);
  try {
    const stored = await findDurable(ids, Math.min(...deadlines), Math.max(...deadlines));
    for (const create of left) {
      const plant = stored.get(create.input.id);
      if (plant && hasSameContent(create.input, plant)) create.resolve('exists');
      else create.reject(outcomeUnknown(cause));
    }
  } catch (error) {
    const isRepeatable =
      isUnconfirmed(error) || databaseCode(error) === '57014' || isLateWrite(error);
    if (isRepeatable) {
      const now = performance.now();
      rejectAll(
        left.filter(({ deadline }) => deadline <= now),
        outcomeUnknown(error),
      );
      return confirm({ findDurable }, left, error);
    }
    rejectAll(left, outcomeUnknown(error));
  }
}

/**
 * For each id, returns the first plant. The returned plants are sorted by id. An id may occur only once in a
 * statement, and two statements with the same ids in different orders can deadlock.
 */
function sortedById(creates: readonly Create[]): NewPlant[] {
  const sorted = creates
    .map(({ input }) => input)
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return sorted.filter(({ id }, i) => id !== sorted[i - 1]?.id);
}

/**
 * Settles a create by comparing its plant with the plant that is stored under the id. Returns false when no
 * plant is stored. A create of the same plant is a retry, and succeeds.
 */
function settle(create: Create, allStored: ReadonlyMap<bigint, NewPlant>): boolean {
  const { id } = create.input;
  const stored = allStored.get(id);
  if (!stored) return false;
  if (hasSameContent(create.input, stored)) create.resolve('exists');
  else create.reject(idTaken(id));
  return true;
}

function rejectAll(creates: readonly Create[], error: PlantStoreError): void {
  for (const create of creates) create.reject(error);
}

/**
 * Calls `write` for the first half of a batch, and then for the second half. When one row makes the database
 * reject a whole statement, repeated bisection finds this row.
 */
export async function bisect<T>(
  batch: readonly T[],
  write: (half: T[]) => Promise<void>,
): Promise<void> {
  const middle = batch.length >> 1;
  await write(batch.slice(0, middle));
  await write(batch.slice(middle));
}
