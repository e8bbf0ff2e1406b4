import { NewPlant } from '@plant-store/schemas';
import type { Bulk } from '../../database/database.ts';
import { databaseUnavailable, isDataError, orUnavailable } from '../../database/database-error.ts';
import { idTaken, invalidInput, type PlantStoreError } from '../../plant-store-error.ts';
import { bisect } from '../bisect.ts';
import { plantRejected } from '../create-errors.ts';
import { createDurableFind } from '../durable-find.ts';
import { isSamePlant } from '../same-plant.ts';
import { splitById } from '../split-by-id.ts';
import { copyText } from './copy-text.ts';
import { hidesSqlState } from './hides-sql-state.ts';

/**
 * The outcome for one plant: it was inserted, it was already present with the same content, or `create`
 * would have thrown this error (`idTaken`, `invalidInput`; `databaseUnavailable` when the table has a
 * constraint that does not allow the plant).
 */
export type LoadOutcome = 'inserted' | 'present' | PlantStoreError;

export interface PlantLoader {
  /**
   * Creates many plants, about as fast as Postgres can insert them. Returns the outcome of each, in
   * order, as if they were created one after the other. A few thousand plants are a good number for
   * one call: memory use and the time of a commit grow with it. Calls run one after the other.
   *
   * @throws PlantStoreError `databaseUnavailable`: any of the plants may be stored, so load all of
   *   them again
   */
  load(plants: readonly unknown[]): Promise<LoadOutcome[]>;
}

/** A valid plant of a call. Without an outcome, it is inserted or about to be. */
interface LoadEntry {
  readonly plant: NewPlant;
  outcome?: LoadOutcome;
}

/** Entries with distinct ids and their text for COPY, and the entries that repeat one of these ids. */
interface LoadBatch {
  readonly entries: LoadEntry[];
  readonly text: string;
  readonly repeated: LoadEntry[];
}

/** Stored plants that one statement reads, or inserts; they may be longer than the plants of the call. */
const maxFound = 128;

/** @param insert inserts plants whose ids are free, and returns their ids; see `PlantTable` */
export function createPlantLoader(
  bulk: Bulk,
  insert: (plants: readonly NewPlant[]) => Promise<Set<bigint>>,
): PlantLoader {
  const find = createDurableFind(bulk);
  let previous: Promise<void> = Promise.resolve();

  return {
    async load(plants) {
      const entries = plants.map(validate);
      // The text for COPY is made while an earlier call still waits for the database.
      const batch = toBatch(entries.filter((entry) => 'plant' in entry));
      const written = previous.then(() => write(batch));
      previous = written.catch(() => {});
      await written;
      return entries.map(({ outcome }) => outcome ?? 'inserted');
    },
  };

  /** Copies the entries as if all their ids were free, and reads stored plants only when that fails. */
  async function write({ entries, text, repeated }: LoadBatch): Promise<void> {
    if (entries.length === 0) return;
    try {
      await bulk.copyPlants(text);
    } catch (error) {
      if (hidesSqlState(error)) await insertAll(entries);
      else if (isDataError(error))
        await writeRejected(entries, error, (rest) => write(toBatch(rest)));
      else throw databaseUnavailable(error);
    }
    await write(toBatch(await compareWithStored(repeated)));
  }

  /** Writes entries by INSERT, which has the SQLSTATE that this COPY hides. */
  async function insertAll(entries: LoadEntry[]): Promise<void> {
    for (let start = 0; start < entries.length; start += maxFound) {
      await insertSome(entries.slice(start, start + maxFound));
    }
  }

  async function insertSome(entries: LoadEntry[]): Promise<void> {
    if (entries.length === 0) return;
    try {
      const inserted = await insert(entries.map(({ plant }) => plant));
      const taken = entries.filter(({ plant }) => !inserted.has(plant.id));
      // An id that is free now belonged to a plant that was deleted before the comparison.
      await insertSome(await compareWithStored(taken));
    } catch (error) {
      if (!isDataError(error)) throw databaseUnavailable(error);
      await writeRejected(entries, error, insertSome);
    }
  }

  /** Writes entries that the database rejected together: first without those whose id is taken. */
  async function writeRejected(
    entries: LoadEntry[],
    error: unknown,
    writeAgain: (rest: LoadEntry[]) => Promise<void>,
  ): Promise<void> {
    const free = await compareWithStored(entries);
    if (free.length < entries.length) return writeAgain(free);
    const [entry] = entries;
    if (entry && entries.length === 1) {
      entry.outcome = plantRejected(error);
      return;
    }
    // All ids were free, so the database rejected the content of an entry.
    await bisect(entries, writeAgain);
  }

  /** Sets the outcome of the entries whose id is taken, and returns the others. */
  async function compareWithStored(entries: LoadEntry[]): Promise<LoadEntry[]> {
    const free: LoadEntry[] = [];
    for (let start = 0; start < entries.length; start += maxFound) {
      const chunk = entries.slice(start, start + maxFound);
      const ids = chunk.map(({ plant }) => plant.id);
      const found = await orUnavailable(find(ids));
      const storedById = new Map(found.map((plant) => [plant.id, plant]));
      for (const entry of chunk) {
        const stored = storedById.get(entry.plant.id);
        if (!stored) free.push(entry);
        else entry.outcome = isSamePlant(entry.plant, stored) ? 'present' : idTaken(stored.id);
      }
    }
    return free;
  }
}

function validate(input: unknown): LoadEntry | { outcome: PlantStoreError } {
  const { data, error } = NewPlant.safeParse(input);
  return data ? { plant: data } : { outcome: invalidInput(error) };
}

function toBatch(entries: LoadEntry[]): LoadBatch {
  const { first, repeated } = splitById(entries);
  return { entries: first, text: copyText(first.map(({ plant }) => plant)), repeated };
}
