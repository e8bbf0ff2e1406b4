import { NewPlant } from '@plant-store/schemas';
import type { Bulk } from '../database/database.ts';
import { databaseUnavailable, isDataError, orUnavailable } from '../database/database-error.ts';
import { idTaken, invalidInput, type PlantStoreError } from '../plant-store-error.ts';
import { bisect } from './bisect.ts';
import { copyText } from './copy-text.ts';
import { plantRejected } from './create-errors.ts';
import { findPlants, waitForStandby } from './plant-table.ts';
import { isSamePlant } from './same-plant.ts';
import { splitById } from './split-by-id.ts';

/**
 * The outcome for one plant of many: it was inserted, it was already present with the same content,
 * or it has the error (`idTaken`, `invalidInput`) that `create` would have thrown.
 */
export type LoadOutcome = 'inserted' | 'present' | PlantStoreError;

export interface PlantLoader {
  /**
   * Creates many plants, about as fast as Postgres takes them. Returns the outcome of each, in order,
   * as if they were created one after the other. The plants are committed together or in parts, so
   * after an error load all of them again. Memory and commits grow with their number: a few thousand
   * per call are a good size. Calls while another runs are prepared and then wait for it.
   *
   * @throws PlantStoreError `databaseUnavailable`; any of the plants may be stored
   */
  load(plants: readonly unknown[]): Promise<LoadOutcome[]>;
}

/** A plant on its way into the table. */
interface LoadEntry {
  readonly plant: NewPlant;
  outcome?: LoadOutcome;
}

/** Entries of distinct ids with their text for COPY, and the entries that repeat one of the ids. */
interface LoadBatch {
  readonly entries: LoadEntry[];
  readonly text: string;
  readonly repeated: LoadEntry[];
}

/** Plants that are read back at once; a stored plant may be longer than the one that was sent. */
const maxFound = 128;

export function createPlantLoader(bulk: Bulk): PlantLoader {
  let previous: Promise<void> = Promise.resolve();

  return {
    async load(plants) {
      const entries = plants.map(check);
      const batch = toBatch(entries.filter((entry) => 'plant' in entry));
      const written = previous.then(() => write(batch));
      previous = written.catch(() => {});
      await written;
      return entries.map(({ outcome }) => outcome ?? 'inserted');
    },
  };

  /** Copies the entries as if all their ids were free, and compares them only when that fails. */
  async function write({ entries, text, repeated }: LoadBatch): Promise<void> {
    if (entries.length === 0) return;
    try {
      await bulk.copyPlants(text);
    } catch (error) {
      if (!isDataError(error)) throw databaseUnavailable(error);
      await writeFree(entries, error);
    }
    await write(toBatch(await compare(repeated)));
  }

  /** Writes the entries whose id is free, after the database rejected all of them. */
  async function writeFree(entries: LoadEntry[], error: unknown): Promise<void> {
    const free = await compare(entries);
    if (free.length < entries.length) return write(toBatch(free));
    const [entry] = entries;
    if (entry && entries.length === 1) {
      entry.outcome = plantRejected(error);
      return;
    }
    // All ids were free, so the database rejects the content of an entry.
    await bisect(entries, (half) => write(toBatch(half)));
  }

  /** Sets the outcome of the entries whose id is taken, and returns the others. */
  async function compare(entries: LoadEntry[]): Promise<LoadEntry[]> {
    const free: LoadEntry[] = [];
    for (let start = 0; start < entries.length; start += maxFound) {
      const some = entries.slice(start, start + maxFound);
      const ids = some.map(({ plant }) => plant.id);
      const found = await orUnavailable(findPlants(bulk.db, ids));
      const stored = new Map(found.map((plant) => [plant.id, plant]));
      for (const entry of some) {
        const there = stored.get(entry.plant.id);
        if (!there) free.push(entry);
        else entry.outcome = isSamePlant(entry.plant, there) ? 'present' : idTaken(there.id);
      }
    }
    if (free.length < entries.length) await orUnavailable(waitForStandby(bulk.db));
    return free;
  }
}

function check(input: unknown): LoadEntry | { outcome: PlantStoreError } {
  const { data, error } = NewPlant.safeParse(input);
  return data ? { plant: data } : { outcome: invalidInput(error) };
}

function toBatch(open: LoadEntry[]): LoadBatch {
  const { first: entries, repeated } = splitById(open);
  return { entries, text: copyText(entries.map(({ plant }) => plant)), repeated };
}
