import type { NewPlant, Plant } from '@plant-store/schemas';
import { createUnanswered } from '../database/database-error.ts';
import { idTaken, type PlantStoreError } from '../plant-store-error.ts';

/** A create on its way to the database, answered once: with a plant, an error, or at its deadline. */
export class PendingCreate {
  readonly plant: NewPlant;
  /** What the caller waits for. */
  readonly outcome: Promise<Plant>;
  isAnswered = false;

  readonly #resolve: (plant: Plant) => void;
  readonly #reject: (error: PlantStoreError) => void;
  readonly #timer: NodeJS.Timeout;

  /** @param deadline milliseconds from now */
  constructor(plant: NewPlant, deadline: number, onDeadline: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<Plant>();
    this.plant = plant;
    this.outcome = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => {
      this.fail(createUnanswered());
      onDeadline();
    }, deadline);
  }

  /** Answers with the plant that is stored under this id, be it this one or another. */
  answer(stored: NewPlant): void {
    if (this.isAnswered) return;
    const { id, name, tag } = this.plant;
    if (stored.name !== name || stored.tag !== tag) {
      this.fail(idTaken(id));
    } else {
      this.#settle();
      this.#resolve({ name, ...(tag !== undefined && { tag }) });
    }
  }

  /** Answers with an error, unless there is an answer already. */
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
