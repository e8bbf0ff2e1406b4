import { type NewPlant, NewPlants } from '@plant-store/schemas';
import { deadlineOf } from '../database/deadline.ts';
import { invalidInput, PlantStoreError } from '../plant-store-error.ts';
import type { CreateOutcome } from './creates.ts';
import { type CreateOptions, type Lane, maxManyBatch } from './lane.ts';

/** The outcome for a plant of `createMany`: a result, or the error that `create` would throw. */
export type ManyCreatesOutcome =
  | { readonly id: bigint; readonly result: CreateOutcome }
  | { readonly id: bigint; readonly error: PlantStoreError };

/** See `PlantStore.createMany`. */
export async function createMany(
  lane: Pick<Lane, 'createAll'>,
  given: readonly NewPlant[],
  options: CreateOptions = {},
): Promise<ManyCreatesOutcome[]> {
  const plants = options.isChecked ? given : check(given);
  const call = { caller: options.caller, deadline: deadlineOf(options) };
  const outcomes = new Map<NewPlant, ManyCreatesOutcome>();

  for (const part of partsOf(plants)) {
    const settled = await lane.createAll(part, call);
    part.forEach((plant, i) => {
      const outcome = settled[i];
      if (outcome) outcomes.set(plant, outcomeOf(plant, outcome));
    });
  }
  return plants.flatMap((plant) => outcomes.get(plant) ?? []);
}

/** Checks the plants, because internal tools may bypass the types. */
function check(given: unknown): readonly NewPlant[] {
  const { data, error } = NewPlants.safeParse({ plants: given });
  if (error) throw invalidInput(error);
  return data.plants;
}

/**
 * Splits plants into parts. Each part fits into a statement, and has distinct ids. Plants with the same id
 * are in different parts, so the second create of an id starts when the first create has ended.
 */
function* partsOf(plants: readonly NewPlant[]): Generator<NewPlant[]> {
  let part = new Map<bigint, NewPlant>();
  for (const plant of plants) {
    if (part.size === maxManyBatch || part.has(plant.id)) {
      yield [...part.values()];
      part = new Map();
    }
    part.set(plant.id, plant);
  }
  yield [...part.values()];
}

/** @throws an error that is not a PlantStoreError, because only a bug causes other errors */
function outcomeOf(
  { id }: NewPlant,
  outcome: PromiseSettledResult<CreateOutcome>,
): ManyCreatesOutcome {
  if (outcome.status === 'fulfilled') return { id, result: outcome.value };
  const error: unknown = outcome.reason;
  if (!(error instanceof PlantStoreError)) throw error;
  return { id, error };
}
