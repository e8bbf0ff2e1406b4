import type { NewPlant, Plant } from '@plant-store/schemas';
import { idTaken, type PlantStoreError } from '../../plant-store-error.ts';
import { outcomeUnknown } from '../create-errors.ts';
import type { Deadline } from '../deadline.ts';
import { isSamePlant } from './same-plant.ts';

/** A create that waits for the database. It is answered once, with a plant or an error. */
export class PendingCreate {
  readonly plant: NewPlant;
  readonly outcome: Promise<Plant>;
  isAnswered = false;

  readonly #resolve: (plant: Plant) => void;
  readonly #reject: (error: PlantStoreError) => void;
  readonly #timer: NodeJS.Timeout;

  constructor(plant: NewPlant, deadline: Deadline, onDeadline: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<Plant>();
    this.plant = plant;
    this.outcome = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => {
      this.fail(outcomeUnknown());
      onDeadline();
    }, deadline - performance.now());
  }

  /** Answers with the plant when it is the one that is stored under its id, otherwise with an error. */
  answer(stored: NewPlant): void {
    if (this.isAnswered) return;
    const { id, name, tag } = this.plant;
    if (isSamePlant(this.plant, stored)) {
      this.#settle();
      this.#resolve(tag === undefined ? { name } : { name, tag });
    } else {
      this.fail(idTaken(id));
    }
  }

  /** Answers with an error, unless the create is already answered. */
  fail(error: PlantStoreError): void {
    if (this.isAnswered) return;
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.isAnswered = true;
  }
}
