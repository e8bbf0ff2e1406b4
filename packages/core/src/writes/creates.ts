import { type NewPlant, type Plant, parseJson } from '@plant-store/schemas';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { type Advice, outcomeOf, reasonOf } from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { columnArrays, contentLength, contentOf, hasSameContent } from '../plants/content.ts';
import { plantTexts, valuesOf } from '../plants/plant-json.ts';
import { findDurable, insertPlants } from '../plants/statements.ts';
import { firstOfEachId, maxRounds, prevented, sendAgain, unsettled } from './send-again.ts';

/** The outcome of a create: it created the plant, or the same plant was already stored. */
export type CreateOutcome = 'created' | 'exists';

/** The outcome for a plant of `createMany`: a result, or the error that `create` would throw. */
export type ManyCreatesOutcome =
  | { readonly id: bigint; readonly result: CreateOutcome }
  | { readonly id: bigint; readonly error: PlantStoreError };

/** An insert statement that took `milliseconds` to commit `size` plants. */
export interface CommittedBatch {
  readonly size: number;
  readonly milliseconds: number;
}

type Create = Call<NewPlant, CreateOutcome>;

const mayBeStored = 'the plant may still be stored, send it again';
const advice: Advice = [mayBeStored, 'nothing was written, send it again later'];

/**
 * Makes the functions that create plants. Creates that wait at the same time share an insert statement.
 *
 * @param onCommit is called after each insert statement, and must not throw
 */
export function createCreates(
  { read, write, connections }: Pick<Database, 'read' | 'write' | 'connections'>,
  onCommit: (committed: CommittedBatch) => void,
) {
  const batcher = new Batcher<NewPlant, CreateOutcome>({
    send: (creates) => insert(creates),
    advice,
    running: connections.creates,
    batch: 128,
    sizeOf: contentLength,
    size: 2 ** 20,
    rowOf: ({ id }) => id,
  });

  return {
    async create(plant: NewPlant, options?: CallOptions): Promise<Plant> {
      await batcher.run(plant, options);
      return contentOf(plant);
    },

    async createMany(
      plants: readonly NewPlant[],
      options?: CallOptions,
    ): Promise<ManyCreatesOutcome[]> {
      // Of the plants with the same id, the first is created first.
      const firsts = new Map<bigint, Promise<unknown>>();
      const outcomes = plants.map((plant) => {
        const first = firsts.get(plant.id);
        const create = () => resultOf(plant.id, batcher.run(plant, options, true));
        const outcome = first ? first.then(create) : create();
        if (!first) firsts.set(plant.id, outcome);
        return outcome;
      });
      return Promise.all(outcomes);
    },

    pending: () => ({ waiting: batcher.waiting }),
    drained: () => batcher.drained(),
  };

  /**
   * Inserts the plants of some creates in one statement. The deadline of the statement is the earliest deadline
   * of its creates: a statement that reaches the database later changes nothing.
   */
  async function insert(calls: readonly Create[], rounds = maxRounds): Promise<void> {
    const creates = unsettled(calls);
    if (creates.length === 0) return;
    const plants = firstOfEachId(creates).map(({ input }) => input);
    const deadline = Math.min(...creates.map((create) => create.deadline));
    const startedAt = performance.now();
    try {
      const { rows } = await write<[ids: string]>(
        insertPlants,
        (time) => [...columnArrays(plants), time],
        { kind: 'creates', calls: creates, deadline, advice },
      );
      onCommit({ size: plants.length, milliseconds: performance.now() - startedAt });
      const inserted = new Set(rows[0]?.[0].slice(1, -1).split(','));
      for (const create of creates) {
        // Of several creates with this id, the first create has inserted the plant.
        if (inserted.delete(String(create.input.id))) create.resolve('created');
      }
    } catch (error) {
      if (outcomeOf(error) === 'unconfirmed') return confirm(unsettled(creates), error);
      return sendAgain(unsettled(creates), { error, deadline, advice }, insert);
    }
    const others = unsettled(creates);
    if (others.length > 0) await compare(others, rounds);
  }

  /**
   * Compares creates with the plants that have their ids. A create of the same plant is a retry, and succeeds.
   * When somebody deleted the other plant meanwhile, inserts the plant again.
   */
  async function compare(creates: readonly Create[], rounds: number): Promise<void> {
    const stored = await findOrReject(creates);
    for (const create of unsettled(creates)) {
      const plant = stored.get(String(create.input.id));
      if (!plant) continue;
      if (hasSameContent(create.input, plant)) create.resolve('exists');
      else create.reject(idTaken(create.input.id));
    }
    const again = unsettled(creates);
    if (rounds > 0) return insert(again, rounds - 1);
    for (const create of again) create.reject(prevented('does not keep'));
  }

  /**
   * Settles creates whose commit the standby has not confirmed. Does not insert the plants again, because a
   * second insert could restore a plant that a client has already deleted.
   */
  async function confirm(creates: readonly Create[], cause: unknown): Promise<void> {
    const stored = await findOrReject(creates);
    for (const create of creates) {
      const plant = stored.get(String(create.input.id));
      if (plant && hasSameContent(create.input, plant)) create.resolve('exists');
      else create.reject(outcomeUnknown(cause));
    }
  }

  /** Finds the durable plants with the ids of some creates. After an error, rejects the creates. */
  async function findOrReject(creates: readonly Create[]): Promise<Map<string | undefined, Plant>> {
    const ids = creates.map(({ input }) => input.id);
    const deadline = Math.max(...creates.map((create) => create.deadline));
    try {
      const { rows } = await read<string[]>(findDurable, [`{${ids}}`], {
        kind: 'creates',
        calls: creates,
        deadline,
      });
      const [columns = []] = rows;
      const found = valuesOf(columns[0]);
      // The cast is safe, because `plantTexts` writes every property of a plant.
      return new Map(plantTexts(columns).map((json, i) => [found[i], parseJson(json) as Plant]));
    } catch (error) {
      for (const create of creates) create.reject(outcomeUnknown(error));
      return new Map();
    }
  }
}

export type Creates = ReturnType<typeof createCreates>;

/** The error for a create when it is unknown whether the plant was stored. */
function outcomeUnknown(error: unknown): PlantStoreError {
  const message = `the database did not respond: ${mayBeStored}`;
  return new PlantStoreError('databaseUnavailable', message, { cause: reasonOf(error) });
}

function idTaken(id: bigint): PlantStoreError {
  const message = `id ${id} belongs to another plant: choose an id that is free`;
  return new PlantStoreError('idTaken', message);
}

/** @throws an error that is not a PlantStoreError, because only a bug causes other errors */
async function resultOf(id: bigint, create: Promise<CreateOutcome>): Promise<ManyCreatesOutcome> {
  try {
    return { id, result: await create };
  } catch (error) {
    if (error instanceof PlantStoreError) return { id, error };
    throw error;
  }
}
