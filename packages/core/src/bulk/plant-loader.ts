import type { Database } from '../database/database.ts';
import { databaseUnavailable, isDataError } from '../database/database-error.ts';
import { bisect } from '../group-commit/creates.ts';
import { idTaken, PlantStoreError } from '../plant-store-error.ts';
import { columnArrays } from '../plants/columns.ts';
import { plantNotKept, plantRejected } from '../plants/create-errors.ts';
import { copyColumns, copyText } from './copy-text.ts';
import { findTaken } from './find-taken.ts';
import { checkPlant, type LoadedPlant } from './loaded-plant.ts';

/**
 * The outcome for one plant that was passed to `load`. `exists` means that the plant was already stored. An
 * error is the error that `create` would throw: `idTaken`, `invalidInput`, or `plantRejected` for a plant
 * that violates a constraint of the table.
 */
export type LoadOutcome = 'created' | 'exists' | PlantStoreError;

export interface PlantLoader {
  /**
   * Creates many plants, nearly as fast as Postgres can insert the plants. Returns the outcome for each
   * plant, in the order of the plants. The outcomes are as if the plants were created one after the other.
   * Pass at most a few thousand plants to `load`, because memory use and commit time grow with the number of
   * plants. If `load` is called several times, the calls run one after the other.
   *
   * `createdAt` sets the creation time of a plant. `createdAt` is a `Date`, or a time of RFC 3339 as text,
   * with up to six decimals. If the plant is already stored with another creation time, its outcome is
   * `exists`.
   *
   * @throws PlantStoreError `databaseUnavailable`: some of the plants may be stored, so load all plants again
   */
  load(plants: readonly unknown[]): Promise<LoadOutcome[]>;
}

/** A valid plant of a call. A plant without an outcome is new, or was created. */
interface Loaded {
  readonly plant: LoadedPlant;
  outcome?: LoadOutcome;
}

/** After a taken id, the loader compares this many batches with the stored plants before it sends a COPY. */
const batchesToCompare = 16;

export function createPlantLoader(database: Pick<Database, 'read' | 'copyPlants'>): PlantLoader {
  let previous: Promise<void> = Promise.resolve();
  /** The number of batches that are still to be compared. A COPY of these batches would probably fail. */
  let toCompare = 0;

  return {
    async load(inputs) {
      const all = inputs.map((input): Partial<Loaded> => {
        const checked = checkPlant(input);
        return checked instanceof PlantStoreError ? { outcome: checked } : { plant: checked };
      });
      // The loader formats the rows of this call even while an earlier call waits for the database.
      const write = prepare(all.filter((each): each is Loaded => each.plant !== undefined));
      const written = previous.then(write);
      previous = written.catch(() => {});
      await written;
      return all.map(({ outcome }) => outcome ?? 'created');
    },
  };

  /** Formats plants, and returns a function that writes the plants. */
  function prepare(batch: readonly Loaded[]): () => Promise<void> {
    const { first, repeated } = splitByDistinctId(batch);
    const arrays = toCompare > 0 ? toArrays(first) : undefined;
    const rows = arrays ? undefined : toRows(first);
    return async () => {
      if (first.length === 0) return;
      if (rows && toCompare === 0) await copy(first, rows);
      else await copy(await compareWithStored(first, arrays));
      if (repeated.length > 0) await prepare(await compareWithStored(repeated))();
    };
  }

  /** Writes plants with COPY, as if all ids were free. If the database rejects the COPY, finds taken ids. */
  async function copy(batch: readonly Loaded[], rows = toRows(batch)): Promise<void> {
    if (batch.length === 0) return;
    let count: number;
    try {
      count = await database.copyPlants(...rows);
    } catch (error) {
      if (!isDataError(error)) throw databaseUnavailable(error);
      return copyRejected(batch, error);
    }
    if (count === batch.length) return;
    // A trigger has removed plants from the COPY statement.
    const stored = await findTaken(database, toArrays(batch));
    for (const [i, each] of batch.entries()) if (!stored.has(i)) each.outcome = plantNotKept();
  }

  /** After a rejected COPY statement, writes the plants again, but without the plants whose ids are taken. */
  async function copyRejected(batch: readonly Loaded[], error: unknown): Promise<void> {
    const free = await compareWithStored(batch);
    if (free.length < batch.length) return copy(free);
    const [one, ...others] = batch;
    if (one && others.length === 0) one.outcome = plantRejected(error);
    // No id was taken, so the database has rejected the content of a plant.
    else await bisect(batch, (half) => copy(half));
  }

  /** Sets the outcome of each plant whose id is taken, and returns the other plants. */
  async function compareWithStored(
    batch: readonly Loaded[],
    arrays = toArrays(batch),
  ): Promise<readonly Loaded[]> {
    const taken = await findTaken(database, arrays);
    toCompare = taken.size > 0 ? batchesToCompare : Math.max(0, toCompare - 1);
    return batch.filter((each, i) => {
      const isSame = taken.get(i);
      if (isSame !== undefined) each.outcome = isSame ? 'exists' : idTaken(BigInt(each.plant.id));
      return isSame === undefined;
    });
  }
}

/**
 * Finds the first plant of each id, and the plants that repeat an id. Both results are sorted by id. Postgres
 * accepts an id only once in an INSERT. Two INSERTs with equal ids in different orders can deadlock.
 */
function splitByDistinctId(batch: readonly Loaded[]) {
  // `===` would never find a number equal to a bigint.
  const isLess = (one: Loaded, other: Loaded) => one.plant.id < other.plant.id;
  const sorted = batch.toSorted((a, b) => Number(isLess(b, a)) - Number(isLess(a, b)));
  const { first = [], repeated = [] } = Object.groupBy(sorted, (each, i) => {
    const before = sorted[i - 1];
    return before && !isLess(before, each) ? 'repeated' : 'first';
  });
  return { first, repeated };
}

function toArrays(batch: readonly Loaded[]): string[] {
  return columnArrays(batch.map(({ plant }) => plant));
}

function toRows(batch: readonly Loaded[]): Parameters<Database['copyPlants']> {
  const plants = batch.map(({ plant }) => plant);
  const hasTime = plants.some(({ createdAt }) => createdAt !== undefined);
  const columns = hasTime ? copyColumns.withTime : copyColumns.withoutTime;
  return [copyText(plants, columns), columns];
}
