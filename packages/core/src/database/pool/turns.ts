import { PlantStoreError } from '../../plant-store-error.ts';
import { NotSentError } from '../database-error.ts';
import type { CallOptions } from '../deadline.ts';
import { Call, callerDisconnected } from './call.ts';

type Waiting = Call<undefined, void>;

/** Limits how many statements of one kind run at the same time. Further statements wait in order. */
export class Turns {
  #completed = 0;
  #free: number;
  readonly #maxWaiting: number;
  readonly #outer: Turns | undefined;
  readonly #waiting = new Set<Waiting>();

  /** @param outer the turns for several kinds of statements. Each statement also needs an outer turn. */
  constructor(max: number, maxWaiting: number, outer?: Turns) {
    this.#free = max;
    this.#maxWaiting = maxWaiting;
    this.#outer = outer;
  }

  /**
   * Waits for a turn. The caller must give the turn back.
   *
   * @throws PlantStoreError `overloaded` immediately when too many statements wait, or at the deadline when
   *   the database has completed other statements during the wait.
   * @throws NotSentError at the deadline when the database has completed no statement during the wait.
   */
  take(options: CallOptions): Promise<void> {
    return this.#outer ? this.#takeBoth(this.#outer, options) : this.#takeOwn(options);
  }

  async #takeBoth(outer: Turns, options: CallOptions): Promise<void> {
    await this.#takeOwn(options);
    try {
      await outer.take(options);
    } catch (error) {
      this.#giveOwn();
      throw error;
    }
  }

  async #takeOwn(options: CallOptions): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.size >= this.#maxWaiting) {
      for (const call of this.#waiting)
        if (call.caller?.isGone) this.#reject(call, callerDisconnected());
    }
    if (this.#waiting.size >= this.#maxWaiting) throw tooManyWait();
    const completed = this.#allCompleted;
    const waiting: Waiting = new Call(undefined, options, (late) => {
      const isSilent = this.#allCompleted === completed;
      const error = isSilent ? new NotSentError('no connection was free in time') : tooManyWait();
      this.#reject(late, error);
    });
    this.#waiting.add(waiting);
    await waiting.outcome;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  give(): void {
    this.#outer?.give();
    this.#giveOwn();
  }

  /** Counts a statement that the database has completed in time. */
  complete(): void {
    this.#completed++;
    this.#outer?.complete();
  }

  /** The number of completed statements, including the completed statements of `#outer`. */
  get #allCompleted(): number {
    return this.#completed + (this.#outer ? this.#outer.#allCompleted : 0);
  }

  #giveOwn(): void {
    this.#free++;
    for (const call of this.#waiting) {
      if (call.caller?.isGone) {
        this.#reject(call, callerDisconnected());
        continue;
      }
      this.#waiting.delete(call);
      this.#free--;
      call.resolve();
      return;
    }
  }

  /** Raises the maximum number of running statements by `by`. */
  resize(by: number): void {
    for (let i = 0; i < by; i++) this.#giveOwn();
  }

  rejectWaiting(error: Error): void {
    for (const call of this.#waiting) this.#reject(call, error);
  }

  #reject(call: Waiting, error: Error): void {
    this.#waiting.delete(call);
    call.reject(error);
  }
}

function tooManyWait(): PlantStoreError {
  const message =
    'too many such requests are waiting already: nothing was written, send the request again later';
  return new PlantStoreError('overloaded', message);
}
