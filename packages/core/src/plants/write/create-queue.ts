import type { PendingCreate } from './pending-create.ts';

/** Characters of names and tags in one statement; its last plant may exceed them. */
const maxStatementLength = 2 ** 20;

/** Characters of names and tags in the queue; its last plant may exceed them. */
const maxLength = 64 * 2 ** 20;

/** Creates that wait for a statement, in order. Their number and the length of their text are limited. */
export class CreateQueue {
  readonly #waiting: PendingCreate[] = [];
  readonly #maxBatch: number;
  readonly #maxSize: number;
  #length = 0;

  /**
   * @param maxBatch plants in one statement, at most
   * @param maxSize plants in the queue, at most
   */
  constructor(maxBatch: number, maxSize: number) {
    this.#maxBatch = maxBatch;
    this.#maxSize = maxSize;
  }

  get size(): number {
    return this.#waiting.length;
  }

  get isFull(): boolean {
    return this.size >= this.#maxSize || this.#length >= maxLength;
  }

  /** How many statements the waiting creates would fill completely. */
  get fullStatements(): number {
    return Math.floor(Math.max(this.size / this.#maxBatch, this.#length / maxStatementLength));
  }

  add(pending: PendingCreate): void {
    this.#waiting.push(pending);
    this.#length += lengthOf(pending);
  }

  /** Removes and returns the first creates, as many as fit into one statement. */
  take(): PendingCreate[] {
    let count = 0;
    let length = 0;
    for (const pending of this.#waiting) {
      if (count === this.#maxBatch || length >= maxStatementLength) break;
      count++;
      length += lengthOf(pending);
    }
    this.#length -= length;
    return this.#waiting.splice(0, count);
  }

  /** Removes the first creates of the queue, as far as they were answered at their deadline. */
  dropAnswered(): void {
    for (let [first] = this.#waiting; first?.isAnswered; [first] = this.#waiting) {
      this.#waiting.shift();
      this.#length -= lengthOf(first);
    }
  }

  [Symbol.iterator](): Iterator<PendingCreate> {
    return this.#waiting.values();
  }
}

function lengthOf({ plant: { name, tag = '' } }: PendingCreate): number {
  return name.length + tag.length;
}
