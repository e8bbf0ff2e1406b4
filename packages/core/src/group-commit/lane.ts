import { NewPlant, type Plant, type StoredPlant } from '@plant-store/schemas';
import type { Database } from '../database/database.ts';
import { type CallOptions, deadlineOf } from '../database/deadline.ts';
import { invalidInput, type PlantStoreError } from '../plant-store-error.ts';
import { contentLength, contentOf } from '../plants/columns.ts';
import { notAccepted, outcomeUnknown } from '../plants/create-errors.ts';
import type { PlantStatements } from '../plants/statements.ts';
import { Coalescer, type CoalescerOptions } from './coalescer.ts';
import { type CommittedBatch, type CreateOutcome, writeBatch } from './creates.ts';
import { createLookUps } from './look-ups.ts';

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /** Whether the schema `NewPlant` has checked the plant. The store does not check a plant twice. */
  readonly isChecked?: boolean;
}

/** The queues of the store, for creates and for look-ups. */
export interface Lane {
  /** See `PlantStore.create`. */
  create(plant: NewPlant, options?: CreateOptions): Promise<Plant>;
  /** Creates valid plants with distinct ids. Each plant has its own outcome. */
  createAll(
    plants: readonly NewPlant[],
    options: CallOptions,
  ): Promise<PromiseSettledResult<CreateOutcome>[]>;
  /** See `PlantStore.delete`. */
  delete(id: bigint, options?: CallOptions): Promise<boolean>;
  /** See `PlantStore.get`. */
  get(id: bigint, options?: CallOptions): Promise<StoredPlant | undefined>;
  /** See `PlantStore.pending`. */
  readonly pending: { waiting: number; inFlight: number };
  /** Rejects new creates from now on. Resolves when all earlier creates are settled. */
  drained(): Promise<void>;
}

type LaneOptions = {
  readonly connections: Pick<Database['connections'], 'creates' | 'reads'>;
  readonly statements: PlantStatements;
  /** This function is called after each insert statement, and must not throw. */
  readonly onCommit: (committed: CommittedBatch) => void;
};

/**
 * The maximum number of creates from `createAll` in one statement. Larger statements cost less for each
 * plant, up to this size.
 */
export const maxManyBatch = 500;

/**
 * The maximum number of creates in one statement when statements are slow. Flushing many creates to the disk
 * takes as long as flushing a few creates.
 */
const maxSlowBatch = 2_048;

export function createLane({ statements, connections, onCommit }: LaneOptions): Lane {
  let isClosing = false;

  const createOptions: CoalescerOptions<NewPlant, CreateOutcome> = {
    send: (calls) => writeBatch(statements, calls, onCommit),
    late: () => outcomeUnknown(),
    overloaded: (waiting) => notAccepted('overloaded', `${waiting} creates are waiting already`),
    maxInFlight: connections.creates,
    maxSlowBatch,
    lengthOf: contentLength,
  };
  const creates = new Coalescer(createOptions);
  // Only one statement with many creates runs at a time, so that a second connection is free for single
  // creates.
  const manyCreates = new Coalescer<NewPlant, CreateOutcome>({
    ...createOptions,
    maxInFlight: 1,
    maxBatch: maxManyBatch,
  });
  const lookUps = createLookUps({ find: statements.find, maxInFlight: connections.reads });
  return {
    async create(plant, options) {
      const checked = options?.isChecked ? plant : check(plant);
      if (isClosing) throw closing();
      await creates.run(checked, options);
      return contentOf(checked);
    },

    createAll(plants, options) {
      if (!isClosing) return manyCreates.runAll(plants, options);
      return Promise.allSettled(plants.map(() => Promise.reject(closing())));
    },

    async delete(id, options) {
      return statements.delete(id, { ...options, deadline: deadlineOf(options) });
    },

    get: (id, options) => lookUps.run(id, options),

    get pending() {
      const [one, many] = [creates.pending, manyCreates.pending];
      return { waiting: one.waiting + many.waiting, inFlight: one.inFlight + many.inFlight };
    },

    async drained() {
      isClosing = true;
      await Promise.all([creates.drained(), manyCreates.drained()]);
    },
  };
}

/** Checks the plant, because internal tools may bypass the types. */
function check(plant: unknown): NewPlant {
  const { data, error } = NewPlant.safeParse(plant);
  if (error) throw invalidInput(error);
  return data;
}

function closing(): PlantStoreError {
  return notAccepted('shuttingDown', 'the store is closing');
}
