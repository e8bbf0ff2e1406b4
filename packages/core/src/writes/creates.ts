import { NewPlant, NewPlants, type Plant } from '@plant-store/schemas';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import type { CallOptions, Deadline } from '../database/deadline.ts';
import { isLateWrite, isSplittable, isUnconfirmed, toStoreError } from '../database/errors.ts';
import { databaseCode, idTaken, invalidInput, PlantStoreError } from '../plant-store-error.ts';
import { columnArrays, contentLength, contentOf, hasSameContent } from '../plants/content.ts';
import { parsePlant, plantTexts } from '../plants/plant-json.ts';
import { findDurable, insertPlants } from '../plants/statements.ts';
import { createAdvice, outcomeUnknown, plantNotKept } from './write-errors.ts';

/** Options of a call with an input. */
export interface CheckedOptions extends CallOptions {
  /** Whether the schema of the procedure has checked the input. The store does not check an input twice. */
  readonly isChecked?: boolean;
}

/** What a create did: it created the plant, or the same plant was already stored. */
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

/**
 * The maximum number of attempts for a write that changed nothing because another write came first. After so
 * many attempts, a trigger is the only explanation.
 */
export const maxRounds = 100;

/** A wait for a lock takes longer than this number of milliseconds, unlike an error of a trigger. */
const minLockWait = 1_000;

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
    what: 'creates',
    send: (creates) => insert(creates),
    late: outcomeUnknown,
    running: connections.creates,
    batch: 128,
    sizeOf: contentLength,
    size: 2 ** 20,
    maxSize: 2 ** 26,
    rowOf: ({ id }) => id,
  });

  return {
    async create(plant: NewPlant, options?: CheckedOptions): Promise<Plant> {
      const checked = options?.isChecked ? plant : check(plant);
      await batcher.run(checked, options);
      return contentOf(checked);
    },

    async createMany(
      given: readonly NewPlant[],
      options?: CheckedOptions,
    ): Promise<ManyCreatesOutcome[]> {
      const plants = options?.isChecked ? given : checkMany(given);
      // Plants with the same id are created one after the other.
      const earlier = new Map<bigint, Promise<unknown>>();
      const outcomes = plants.map((plant) => {
        const before = earlier.get(plant.id);
        const create = () => outcomeOf(plant.id, batcher.run(plant, options));
        const outcome = before ? before.then(create) : create();
        earlier.set(plant.id, outcome);
        return outcome;
      });
      return Promise.all(outcomes);
    },

    pending: () => batcher.pending,
    drained: () => batcher.drained(),
  };

  /**
   * Inserts the plants of some creates in one statement. The deadline of the statement is the earliest deadline
   * of its creates: a statement that reaches the database later changes nothing.
   */
  async function insert(calls: readonly Create[], rounds = maxRounds): Promise<void> {
    const creates = unsettled(calls);
    if (creates.length === 0) return;
    const plants = sortedById(creates);
    const deadline = Math.min(...creates.map((create) => create.deadline));
    const startedAt = performance.now();
    let inserted: Set<bigint>;
    try {
      const { rows } = await write<[string]>(
        insertPlants,
        (time) => [...columnArrays(plants), time],
        {
          kind: 'creates',
          calls: creates,
          deadline,
          until: Number.POSITIVE_INFINITY,
          advice: createAdvice,
        },
      );
      inserted = idsOf(rows);
    } catch (error) {
      return afterError(creates, { deadline, startedAt }, error);
    }
    onCommit({ size: plants.length, milliseconds: performance.now() - startedAt });
    for (const create of creates) if (inserted.delete(create.input.id)) create.resolve('created');
    const others = unsettled(creates);
    if (others.length > 0) await compare(others, rounds);
  }

  /**
   * Compares creates with the plants that have their ids. A create of the same plant is a retry, and succeeds.
   * When somebody deleted the other plant meanwhile, inserts the plant again.
   */
  async function compare(creates: readonly Create[], rounds: number): Promise<void> {
    const stored = await find(creates);
    if (!stored) return;
    for (const create of creates) {
      const plant = stored.get(create.input.id);
      if (!plant) continue;
      if (hasSameContent(create.input, plant)) create.resolve('exists');
      else create.reject(idTaken(create.input.id));
    }
    const again = unsettled(creates);
    if (rounds > 0) return insert(again, rounds - 1);
    for (const create of again) create.reject(plantNotKept());
  }

  /**
   * Settles creates whose commit the standby has not confirmed. Does not insert the plants again, because a
   * second insert could restore a plant that a client has already deleted.
   */
  async function confirm(creates: readonly Create[], cause: unknown): Promise<void> {
    const stored = await find(creates);
    for (const create of stored ? creates : []) {
      const plant = stored?.get(create.input.id);
      if (plant && hasSameContent(create.input, plant)) create.resolve('exists');
      else create.reject(outcomeUnknown(cause));
    }
  }

  /** Finds the durable plants with the ids of some creates. After an error, rejects the creates. */
  async function find(creates: readonly Create[]): Promise<Map<bigint, NewPlant> | undefined> {
    const ids = creates.map(({ input }) => input.id);
    const deadline = Math.max(...creates.map((create) => create.deadline));
    try {
      const { rows } = await read<string[]>(findDurable, [`{${ids}}`], {
        kind: 'creates',
        calls: creates,
        deadline,
      });
      const plants = rows.flatMap(plantTexts).map(parsePlant);
      return new Map(plants.map((plant) => [plant.id, plant]));
    } catch (error) {
      for (const create of creates) create.reject(outcomeUnknown(error));
      return undefined;
    }
  }

  async function afterError(
    creates: readonly Create[],
    { deadline, startedAt }: { deadline: Deadline; startedAt: number },
    error: unknown,
  ): Promise<void> {
    const reject = (some: readonly Create[], reason: PlantStoreError) => {
      for (const create of some) create.reject(reason);
    };
    if (isUnconfirmed(error)) return confirm(unsettled(creates), error);
    if (isLateWrite(error) || (isSplittable(error) && performance.now() >= deadline)) {
      // The statement has changed nothing. The creates that have more time are written again.
      const late = creates.filter((create) => create.deadline <= deadline);
      reject(late, toStoreError(error));
      return insert(unsettled(creates));
    }
    if (isSplittable(error) && creates.length > 1) return bisect(creates);
    // A create that has waited for the lock of another session waits until its own deadline.
    const hasWaited = performance.now() - startedAt > minLockWait;
    if (databaseCode(error) === '55P03' && hasWaited) return insert(creates);
    reject(creates, toStoreError(error));
  }

  /**
   * Writes the halves separately. Repeated bisection finds the one row that makes a statement fail. A half that
   * waits for a lock does not delay the other half.
   */
  async function bisect(creates: readonly Create[]): Promise<void> {
    const middle = creates.length >> 1;
    const halves = [creates.slice(0, middle), creates.slice(middle)];
    await Promise.all(halves.map((half) => insert(half)));
  }
}

function unsettled(creates: readonly Create[]): Create[] {
  return creates.filter(({ isSettled }) => !isSettled);
}

/** Reads the text of an array of ids. */
function idsOf([[ids] = ['{}']]: [string][]): Set<bigint> {
  return new Set(ids === '{}' ? [] : ids.slice(1, -1).split(',').map(BigInt));
}

/**
 * Returns the plants of some creates, ascending by id, and for each id only the first plant: an id may occur
 * only once in a statement, and two statements with the same ids in different orders can deadlock.
 */
function sortedById(creates: readonly Create[]): NewPlant[] {
  const sorted = creates
    .map(({ input }) => input)
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return sorted.filter(({ id }, i) => id !== sorted[i - 1]?.id);
}

/** Checks the plant, because internal tools may bypass the types. */
function check(plant: unknown): NewPlant {
  const { data, error } = NewPlant.safeParse(plant);
  if (error) throw invalidInput(error);
  return data;
}

function checkMany(plants: unknown): readonly NewPlant[] {
  const { data, error } = NewPlants.safeParse({ plants });
  if (error) throw invalidInput(error);
  return data.plants;
}

/** @throws an error that is not a PlantStoreError, because only a bug causes other errors */
async function outcomeOf(id: bigint, create: Promise<CreateOutcome>): Promise<ManyCreatesOutcome> {
  try {
    return { id, result: await create };
  } catch (error) {
    if (error instanceof PlantStoreError) return { id, error };
    throw error;
  }
}
