import { NewPlant } from '@plant-store/schemas';
import { copyText } from './copy-text.ts';
import type { Bulk } from '../database/database.ts';
import { databaseUnavailable, isDataError, plantRefused } from '../database/database-error.ts';
import { idTaken, invalidInput, type PlantStoreError } from '../plant-store-error.ts';
import { findPlants, waitForStandby } from './plant-table.ts';

/**
 * What became of one plant of many: it was stored, was there already exactly as asked, or was
 * refused (`idTaken`, `invalidInput`) as `create` would have refused it.
 */
export type LoadOutcome = 'inserted' | 'present' | PlantStoreError;

export interface PlantLoader {
  /**
   * Creates many plants, about as fast as Postgres takes them, and answers for each, in order, what
   * creating one after the other would have. They are checked here, and committed together or in
   * parts; to go on after a failure, load them again. Memory and one commit grow with their number:
   * some thousand are a good measure. What is loaded meanwhile is got ready and waits its turn.
   *
   * @throws PlantStoreError `databaseUnavailable`; any of the plants may be stored.
   */
  load(plants: readonly unknown[]): Promise<LoadOutcome[]>;
}

/** A plant on its way into the table. */
interface Row {
  readonly plant: NewPlant;
  outcome?: LoadOutcome;
}

/** Rows of distinct ids as COPY takes them, and those whose id is among them already. */
interface Batch {
  readonly rows: Row[];
  readonly text: string;
  readonly repeated: Row[];
}

/** Plants that are read back at once: what is stored may be longer than what was sent. */
const maxFound = 128;

export function createPlantLoader(bulk: Bulk): PlantLoader {
  let turn: Promise<void> = Promise.resolve();

  return {
    async load(plants) {
      const rows = plants.map(check);
      const batch = toBatch(rows.filter((row) => 'plant' in row));
      const written = turn.then(() => write(batch));
      turn = written.catch(() => {});
      await written;
      return rows.map(({ outcome }) => outcome ?? 'inserted');
    },
  };

  /** Copies rows as if none of their ids were taken, and looks closer only where that fails. */
  async function write({ rows, text, repeated }: Batch): Promise<void> {
    if (rows.length === 0) return;
    try {
      await bulk.copyPlants(text);
    } catch (error) {
      if (!isDataError(error)) throw databaseUnavailable(error);
      await lookCloser(rows, error);
    }
    await write(toBatch(await compare(repeated)));
  }

  async function lookCloser(rows: Row[], error: unknown): Promise<void> {
    const free = await compare(rows);
    if (free.length < rows.length) return write(toBatch(free));
    const [row] = rows;
    if (row && rows.length === 1) {
      row.outcome = plantRefused(error);
      return;
    }
    // No id was taken, so the database refuses some row: halve until it stands alone.
    const middle = rows.length >> 1;
    await write(toBatch(rows.slice(0, middle)));
    await write(toBatch(rows.slice(middle)));
  }

  /** Settles the rows whose id is taken, and returns the others. */
  async function compare(rows: Row[]): Promise<Row[]> {
    const free: Row[] = [];
    for (let start = 0; start < rows.length; start += maxFound) {
      const some = rows.slice(start, start + maxFound);
      const stored = new Map<bigint, NewPlant>();
      for (const plant of await find(some)) stored.set(plant.id, plant);
      for (const row of some) {
        const there = stored.get(row.plant.id);
        if (there) row.outcome = isSame(row.plant, there) ? 'present' : idTaken(there.id);
        else free.push(row);
      }
    }
    if (free.length < rows.length) await answer(waitForStandby(bulk.db));
    return free;
  }

  function find(rows: Row[]): Promise<NewPlant[]> {
    return answer(
      findPlants(
        bulk.db,
        rows.map(({ plant }) => plant.id),
      ),
    );
  }
}

async function answer<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw databaseUnavailable(error);
  }
}

function check(input: unknown): Row | { outcome: PlantStoreError } {
  const { data, error } = NewPlant.safeParse(input);
  return data ? { plant: data } : { outcome: invalidInput(error) };
}

/** In order of id, so that no other writer can deadlock with it. */
function toBatch(open: Row[]): Batch {
  const sorted = open.toSorted((a, b) => compareIds(a.plant.id, b.plant.id));
  const isFirst = (row: Row, i: number) => row.plant.id !== sorted[i - 1]?.plant.id;
  const rows = sorted.filter(isFirst);
  const repeated = sorted.filter((row, i) => !isFirst(row, i));
  return { rows, text: copyText(rows.map(({ plant }) => plant)), repeated };
}

function compareIds(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isSame(plant: NewPlant, stored: NewPlant): boolean {
  return plant.name === stored.name && plant.tag === stored.tag;
}
