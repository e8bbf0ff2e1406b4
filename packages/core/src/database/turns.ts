import { PlantStoreError } from '../plant-store-error.ts';
import { atDeadline, type Caller, type Deadline } from './deadline.ts';

interface Waiting {
  readonly caller: Caller | undefined;
  readonly turn: PromiseWithResolvers<void>;
}

/** Lets so many statements of one kind run at the same time; the others wait in order. */
export class Turns {
  #free: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<Waiting>();

  constructor(max: number, maxWaiting: number) {
    this.#free = max;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for a turn, which the caller gives back.
   *
   * @throws PlantStoreError `overloaded` at once when too many wait; Error at the deadline
   */
  async take(deadline: Deadline, caller: Caller | undefined): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.size >= this.#maxWaiting) this.#dropGone();
    if (this.#waiting.size >= this.#maxWaiting) throw tooManyWait(this.#waiting.size);
    const waiting = { caller, turn: Promise.withResolvers<void>() };
    this.#waiting.add(waiting);
    const timer = atDeadline(deadline, () => {
      this.#waiting.delete(waiting);
      waiting.turn.reject(new Error('no connection was free in time'));
    });
    await waiting.turn.promise.finally(() => clearTimeout(timer));
  }

  give(): void {
    this.#free++;
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting);
      if (waiting.caller?.isGone) {
        waiting.turn.reject(callerGone());
        continue;
      }
      this.#free--;
      waiting.turn.resolve();
      return;
    }
  }

  /** Lets more statements run. */
  resize(by: number): void {
    for (let i = 0; i < by; i++) this.give();
  }

  rejectWaiting(error: Error): void {
    for (const { turn } of this.#waiting) turn.reject(error);
    this.#waiting.clear();
  }

  #dropGone(): void {
    for (const waiting of this.#waiting) {
      if (!waiting.caller?.isGone) continue;
      this.#waiting.delete(waiting);
      waiting.turn.reject(callerGone());
    }
  }
}

/** The error for a call whose caller has disconnected; nobody reads it. */
function callerGone(): Error {
  return new Error('the caller is gone');
}

function tooManyWait(count: number): PlantStoreError {
  const message = `${count} such requests are waiting already: nothing was written, send the request again later`;
  return new PlantStoreError('overloaded', message);
}
