import type { NewPlant, Plant } from '@plant-store/schemas';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import type { CallOptions, Deadline } from '../database/deadline.ts';
import { outcomeOf, reasonOf } from '../database/errors.ts';
import { unsettled } from '../database/send-again.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { columnArrays, contentLength, hasSameContent } from './content.ts';
import { plantTexts, valuesOf } from './plant-json.ts';
import { findDurable, insertPlants } from './statements.ts';

/** The outcome of a create: the plant is new, or the same plant was already stored. */
export type CreateOutcome = 'created' | 'exists';

/** The outcome for one plant of `createMany`: a result, or the error that `create` would throw. */
export type ManyCreatesOutcome =
  | { readonly id: bigint; readonly result: CreateOutcome }
  | { readonly id: bigint; readonly error: PlantStoreError };

/** A committed insert of `size` plants, which took `milliseconds`. Some plants may have been stored before. */
export interface CommittedBatch {
  readonly size: number;
  readonly milliseconds: number;
}

type Create = Call<NewPlant, CreateOutcome>;

const mayBeStored = 'the plant may still be stored, send it again';

/**
 * Makes the functions that create plants. Several waiting calls share an insert statement.
 *
 * @param onCommit is called after each confirmed insert statement, and must not throw
 */
export function createCreates(
  { read, write, connections }: Pick<Database, 'read' | 'write' | 'connections'>,
  onCommit: (committed: CommittedBatch) => void,
) {
  const batcher = new Batcher<NewPlant, CreateOutcome>({
    send: insert,
    advice: [mayBeStored, 'nothing was written, send it again later'],
    running: connections.creates,
    startAt: 128,
    sizeOf: contentLength,
    size: 2 ** 20,
    rowOf: ({ id }) => id,
  });

  return {
    create: (plant: NewPlant, options?: CallOptions) => batcher.run(plant, options),

    createMany: (plants: readonly NewPlant[], options?: CallOptions) =>
      Promise.all(plants.map((plant) => resultOf(plant.id, batcher.run(plant, options, true)))),

    pending: () => ({ waiting: batcher.waiting }),
    close: () => batcher.close(),
  };

  /** Inserts plants, which the batcher has sorted by id. Of plants with the same id, inserts the first. */
  async function insert(creates: readonly Create[], deadline: Deadline): Promise<void> {
    const plants = creates
      .map(({ input }) => input)
      .filter(({ id }, i, all) => id !== all[i - 1]?.id);
    const startedAt = performance.now();
    try {
      const { rows } = await write<[ids: string]>(
        insertPlants,
        (time) => [...columnArrays(plants), time],
        { kind: 'creates', sharedBy: creates, deadline },
      );
      onCommit({ size: plants.length, milliseconds: performance.now() - startedAt });
      const inserted = new Set(rows[0]?.[0].slice(1, -1).split(','));
      for (const create of creates) {
        if (inserted.delete(String(create.input.id))) create.resolve('created');
      }
    } catch (error) {
      if (outcomeOf(error) !== 'unconfirmed') throw error;
      return compare(unsettled(creates), error);
    }
    const others = unsettled(creates);
    if (others.length > 0) await compare(others);
  }

  /**
   * Compares creates with the durable plants that have the same ids. A create of the same plant is a retry,
   * and succeeds. When a client has deleted the stored plant meanwhile, the create stays unsettled, and
   * `sendUntilSettled` sends it again.
   *
   * @param unconfirmed the error of a commit that the standby has not confirmed. The plants are then not inserted
   *   again, because a second insert could restore a plant that a client has already deleted.
   */
  async function compare(creates: readonly Create[], unconfirmed?: unknown): Promise<void> {
    const ids = creates.map(({ input }) => input.id);
    // The batcher itself rejects each call whose deadline passes during this read.
    const deadline = Math.max(...creates.map((create) => create.deadline));
    try {
      const { rows } = await read<string[]>(findDurable, [`{${ids}}`], {
        kind: 'creates',
        sharedBy: creates,
        deadline,
      });
      const [columns = []] = rows;
      const found = valuesOf(columns[0]);
      // The cast is safe, because `plantTexts` writes every property of a plant.
      const plants = plantTexts(columns, '"').map((json) => JSON.parse(json) as Plant);
      const stored = new Map(plants.map((plant, i) => [found[i], plant]));
      for (const create of creates) {
        const plant = stored.get(String(create.input.id));
        if (plant && hasSameContent(create.input, plant)) create.resolve('exists');
        else if (unconfirmed !== undefined) create.reject(outcomeUnknown(unconfirmed));
        else if (plant) create.reject(idTaken(create.input.id));
      }
    } catch (error) {
      for (const create of creates) create.reject(outcomeUnknown(error));
    }
  }
}

export type Creates = ReturnType<typeof createCreates>;

/** The error of a create that may or may not have stored the plant. */
function outcomeUnknown(error: unknown): PlantStoreError {
  const message = `the database did not respond: ${mayBeStored}`;
  return new PlantStoreError('databaseUnavailable', message, { cause: reasonOf(error) });
}

function idTaken(id: bigint): PlantStoreError {
  const message = `id ${id} belongs to another plant: choose an id that is free`;
  return new PlantStoreError('idTaken', message);
}

/** @throws any error that is not a PlantStoreError, because such an error is a bug */
async function resultOf(id: bigint, create: Promise<CreateOutcome>): Promise<ManyCreatesOutcome> {
  try {
    return { id, result: await create };
  } catch (error) {
    if (error instanceof PlantStoreError) return { id, error };
    throw error;
  }
}
