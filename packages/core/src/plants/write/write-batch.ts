import type { NewPlant } from '@plant-store/schemas';
import { isDataError } from '../../database/database-error.ts';
import type { PlantStoreError } from '../../plant-store-error.ts';
import { bisect } from '../bisect.ts';
import { insertError, outcomeUnknown, plantNotKept, plantRejected } from '../create-errors.ts';
import type { PendingCreate } from './pending-create.ts';
import type { PlantTable } from './plant-table.ts';
import { splitById } from './split-by-id.ts';

/** One insert statement that committed `size` plants, in so many milliseconds. */
export interface CommittedBatch {
  size: number;
  milliseconds: number;
}

/** How many times a create is repeated whose plant is neither inserted nor found. */
const maxRounds = 100;

/**
 * Inserts the plants of a batch in one statement, and answers its creates. When the database rejects
 * the statement because of a plant, the halves of the batch are written one after the other. The
 * promise is never rejected.
 *
 * @param onCommit is called after each insert statement; it must not throw
 */
export async function writeBatch(
  table: PlantTable,
  batch: readonly PendingCreate[],
  onCommit: (committed: CommittedBatch) => void,
  rounds = maxRounds,
): Promise<void> {
  const unanswered = batch.filter(({ isAnswered }) => !isAnswered);
  if (unanswered.length === 0) return;
  const plants = splitById(unanswered).first.map(({ plant }) => plant);
  let isInserted = false;
  try {
    const sentAt = performance.now();
    const inserted = await table.insert(plants);
    isInserted = true;
    onCommit({ size: plants.length, milliseconds: performance.now() - sentAt });
    // Nearly always every plant is new and has an id of its own.
    if (inserted.size === unanswered.length) {
      for (const create of unanswered) create.answer(create.plant);
      return;
    }
    const taken = plants.flatMap(({ id }) => (inserted.has(id) ? [] : [id]));
    const found = taken.length > 0 ? await table.find(taken) : [];
    const stored = [...plants.filter(({ id }) => inserted.has(id)), ...found];
    // An id was taken, and its plant was deleted before the comparison: now the id may be free.
    const deleted = answerAll(unanswered, stored);
    if (rounds === 0) return failAll(deleted, plantNotKept());
    if (deleted.length > 0) await writeBatch(table, deleted, onCommit, rounds - 1);
  } catch (error) {
    if (!isDataError(error)) {
      return failAll(unanswered, isInserted ? outcomeUnknown(error) : insertError(error));
    }
    if (unanswered.length === 1) return failAll(unanswered, plantRejected(error));
    await bisect(unanswered, (half) => writeBatch(table, half, onCommit));
  }
}

/** Compares each create with the plant that is stored under its id. Returns those without a plant. */
function answerAll(
  creates: readonly PendingCreate[],
  stored: readonly NewPlant[],
): PendingCreate[] {
  const storedById = new Map(stored.map((plant) => [plant.id, plant]));
  return creates.filter((create) => {
    const plant = storedById.get(create.plant.id);
    if (plant) create.answer(plant);
    return !plant;
  });
}

function failAll(creates: readonly PendingCreate[], error: PlantStoreError): void {
  for (const create of creates) create.fail(error);
}
