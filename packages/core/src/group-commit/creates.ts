import type { NewPlant } from '@plant-store/schemas';
import type { Call } from '../database/call.ts';
import {
  isCancelled,
  isDataError,
  isLateWrite,
  isUnconfirmedCommit,
} from '../database/database-error.ts';
import { idTaken, type PlantStoreError } from '../plant-store-error.ts';
import { hasSameContent } from '../plants/columns.ts';
import {
  insertError,
  outcomeUnknown,
  plantNotKept,
  plantRejected,
} from '../plants/create-errors.ts';
import { maxRounds, type PlantStatements } from '../plants/statements.ts';

/** The outcome of a create: the plant was created, or the same plant was stored already. */
export type CreateOutcome = 'created' | 'exists';

/** A create that waits for the database. */
export type Create = Call<NewPlant, CreateOutcome>;

/** An insert statement that committed `size` plants, and took this many milliseconds. */
export interface CommittedBatch {
  size: number;
  milliseconds: number;
}

/**
 * Inserts the plants of a batch in one statement, and settles its creates. When the database rejects
 * the statement because of a plant, the halves of the batch are written one after the other. The
 * promise is never rejected.
 *
 * The statement has the earliest deadline of its creates. When it reaches the database after this deadline,
 * it changes nothing. When it runs at this deadline, it is cancelled. In both cases the creates with later
 * deadlines are written once more. A commit cannot be cancelled, so these creates wait for its end.
 *
 * @param onCommit is called after each insert statement; it must not throw
 */
export async function writeBatch(
  statements: Pick<PlantStatements, 'insert' | 'findDurable'>,
  batch: readonly Create[],
  onCommit: (committed: CommittedBatch) => void,
  rounds = maxRounds,
): Promise<void> {
  const creates = batch.filter(({ isSettled }) => !isSettled);
  if (creates.length === 0) return;
  const again = (some: readonly Create[], left = rounds) =>
    writeBatch(statements, some, onCommit, left);
  const plants = sortedById(creates);
  const deadlines = creates.map((create) => create.deadline);
  const [deadline, until] = [Math.min(...deadlines), Math.max(...deadlines)];
  let isInserted = false;
  try {
    const sentAt = performance.now();
    const inserted = await statements.insert(plants, deadline, until);
    isInserted = true;
    onCommit({ size: plants.length, milliseconds: performance.now() - sentAt });
    // Creates of taken ids wait for a second statement. The other creates are committed.
    const created = new Set(inserted);
    for (const create of creates) if (created.delete(create.input.id)) create.resolve('created');
    if (inserted.size === creates.length) return; // This is nearly always true.
    const taken = plants.flatMap(({ id }) => (inserted.has(id) ? [] : [id]));
    const stored: Map<bigint, NewPlant> =
      taken.length > 0 ? await statements.findDurable(taken, deadline, until) : new Map();
    for (const plant of plants) if (inserted.has(plant.id)) stored.set(plant.id, plant);
    // These creates had a taken id, but its plant was deleted before the comparison. So the id may be free
    // now.
    const deleted = creates.filter((create) => !settle(create, stored, inserted));
    if (rounds === 0) return rejectAll(deleted, plantNotKept());
    await again(deleted, rounds - 1);
  } catch (error) {
    if (!isInserted && isUnconfirmedCommit(error)) return confirm(statements, creates, error);
    // After the insert, the other creates have taken ids. An earlier create may have stored their plants.
    const known = isInserted ? outcomeUnknown(error) : insertError(error);
    const isLate = isLateWrite(error) || (isCancelled(error) && performance.now() >= deadline);
    if (isLate || isUnconfirmedCommit(error)) {
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
 * Settles the creates whose commit is not on the standby yet. They are not written again, because somebody
 * may have deleted the plants since.
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
    const isRepeatable = isUnconfirmedCommit(error) || isCancelled(error) || isLateWrite(error);
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
 * Returns the first plant of each id, ascending by id. An id may occur only once in a statement, and
 * statements with the same ids in different orders can deadlock.
 */
function sortedById(creates: readonly Create[]): NewPlant[] {
  const sorted = creates
    .map(({ input }) => input)
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return sorted.filter(({ id }, i) => id !== sorted[i - 1]?.id);
}

/**
 * Settles a create by the plant that is stored under its id. Returns false when there is none. A create of
 * the stored plant counts as a retry and succeeds.
 *
 * @param inserted the ids of the inserted plants. The first create of an id removes the id here.
 */
function settle(
  create: Create,
  allStored: ReadonlyMap<bigint, NewPlant>,
  inserted: Set<bigint>,
): boolean {
  const { id } = create.input;
  const stored = allStored.get(id);
  if (!stored) return false;
  if (inserted.delete(id)) create.resolve('created');
  else if (hasSameContent(create.input, stored)) create.resolve('exists');
  else create.reject(idTaken(id));
  return true;
}

function rejectAll(creates: readonly Create[], error: PlantStoreError): void {
  for (const create of creates) create.reject(error);
}

/**
 * Calls a function for both halves of a batch, one after the other. The database rejects a whole
 * statement because of one row; repeated bisection finds that row.
 */
export async function bisect<T>(
  batch: readonly T[],
  write: (half: T[]) => Promise<void>,
): Promise<void> {
  const middle = batch.length >> 1;
  await write(batch.slice(0, middle));
  await write(batch.slice(middle));
}
