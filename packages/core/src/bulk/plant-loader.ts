import type { Database } from '../database/database.ts';
import { databaseUnavailable, isDataError } from '../database/database-error.ts';
import { bisect } from '../group-commit/creates.ts';
import { idTaken, PlantStoreError } from '../plant-store-error.ts';
import { columnArrays } from '../plants/columns.ts';
import { plantNotKept, plantRejected } from '../plants/create-errors.ts';
import { copyColumns, copyText } from './copy-text.ts';
import { splitByDistinctId } from './distinct-ids.ts';
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

/** The plants of a call, and the outcomes that are already known. */
interface Load {
  readonly plants: readonly LoadedPlant[];
  readonly outcomes: (LoadOutcome | undefined)[];
}

/** The indexes of some plants in `plants` and `outcomes`. */
type Places = readonly number[];

/** A batch of plants with distinct ids, and the plants that repeat one of these ids. */
interface LoadBatch extends Load {
  readonly first: Places;
  readonly repeated: Places;
  /** The rows for the COPY statement. Absent if the loader first compares the batch with stored plants. */
  readonly rows?: Rows;
  readonly arrays?: string[];
}

type Rows = Parameters<Database['copyPlants']>;

/** After a taken id, the loader compares this many batches with the stored plants before it sends a COPY. */
const batchesToCompare = 16;

export function createPlantLoader(database: Pick<Database, 'read' | 'copyPlants'>): PlantLoader {
  let previous: Promise<void> = Promise.resolve();
  /** The number of batches that are still to be compared. A COPY of these batches would probably fail. */
  let toCompare = 0;

  return {
    async load(inputs) {
      const outcomes: Load['outcomes'] = [];
      const places: number[] = [];
      const plants = inputs.map((input, place) => {
        const checked = checkPlant(input);
        if (checked instanceof PlantStoreError) {
          outcomes[place] = checked;
          return noPlant;
        }
        outcomes[place] = undefined;
        places.push(place);
        return checked;
      });
      // The loader formats the rows of this call even while an earlier call waits for the database.
      const batch = toBatch({ plants, outcomes }, places);
      const written = previous.then(() => write(batch));
      previous = written.catch(() => {});
      await written;
      return outcomes.map((outcome) => outcome ?? 'created');
    },
  };

  function toBatch(load: Load, places: Places): LoadBatch {
    const { first, repeated } = splitByDistinctId(load.plants, places);
    const plants = pick(load, first);
    const sent = toCompare > 0 ? { arrays: columnArrays(plants) } : { rows: toRows(plants) };
    return { ...load, first, repeated, ...sent };
  }

  async function write({ first, repeated, rows, arrays, ...load }: LoadBatch): Promise<void> {
    if (first.length === 0) return;
    if (rows && toCompare === 0) await copy(load, first, rows);
    else await copy(load, await compareWithStored(load, first, arrays));
    if (repeated.length === 0) return;
    await write(toBatch(load, await compareWithStored(load, repeated)));
  }

  /** Writes plants with COPY, as if all ids were free. If the database rejects the COPY, finds taken ids. */
  async function copy(
    load: Load,
    places: Places,
    rows = toRows(pick(load, places)),
  ): Promise<void> {
    if (places.length === 0) return;
    let count: number;
    try {
      count = await database.copyPlants(...rows);
    } catch (error) {
      if (!isDataError(error)) throw databaseUnavailable(error);
      return copyRejected(load, places, error);
    }
    if (count < places.length) await findSwallowed(load, places);
  }

  /** Finds the plants that a trigger has removed from a COPY statement. */
  async function findSwallowed({ plants, outcomes }: Load, places: Places): Promise<void> {
    const found: Load = { plants, outcomes: [] };
    for (const place of await compareWithStored(found, places)) outcomes[place] = plantNotKept();
  }

  /** After a rejected COPY statement, writes the plants again, but without the plants whose ids are taken. */
  async function copyRejected(load: Load, places: Places, error: unknown): Promise<void> {
    const free = await compareWithStored(load, places);
    if (free.length < places.length) return copy(load, free);
    const [place] = places;
    if (place !== undefined && places.length === 1) {
      load.outcomes[place] = plantRejected(error);
      return;
    }
    // No id was taken, so the database has rejected the content of a plant.
    await bisect(places, (half) => copy(load, half));
  }

  /** Sets the outcome of each plant whose id is taken, and returns the other plants. */
  async function compareWithStored(
    load: Load,
    places: Places,
    arrays = columnArrays(pick(load, places)),
  ): Promise<Places> {
    const taken = await findTaken(database, arrays);
    toCompare = taken.length > 0 ? batchesToCompare : Math.max(0, toCompare - 1);
    if (taken.length === 0) return places;
    for (const { at, isSame } of taken) {
      const place = places[at] ?? -1;
      const { id } = load.plants[place] ?? noPlant;
      load.outcomes[place] = isSame ? 'exists' : idTaken(BigInt(id));
    }
    return places.filter((place) => load.outcomes[place] === undefined);
  }
}

/** The list of plants contains this plant in the place of an invalid plant. */
const noPlant: LoadedPlant = { id: 0n, name: '' };

function pick({ plants }: Load, places: Places): readonly LoadedPlant[] {
  const isAll = places.length === plants.length && places.every((place, i) => place === i);
  if (isAll) return plants;
  return places.map((place) => plants[place] ?? noPlant);
}

function toRows(plants: readonly LoadedPlant[]): Rows {
  const hasTime = plants.some(({ createdAt }) => createdAt !== undefined);
  const columns = hasTime ? copyColumns.withTime : copyColumns.withoutTime;
  return [copyText(plants, columns), columns];
}
