import { EventEmitter } from 'node:events';
import { NewPlant, type Plant } from '@plant-store/schemas';
import { isDataError } from '../database/database-error.ts';
import { invalidInput, type PlantStoreError } from '../plant-store-error.ts';
import { bisect } from './bisect.ts';
import { createNotStarted, createUnanswered, plantRejected } from './create-errors.ts';
import { CreateQueue } from './create-queue.ts';
import { type CallOptions, type Deadline, defaultTimeout } from './deadline.ts';
import { PendingCreate } from './pending-create.ts';
import type { PlantTable } from './plant-table.ts';
import { splitById } from './split-by-id.ts';

/** `batch`: one statement committed so many plants, in so many milliseconds. */
export type StoreEvents = { batch: [{ size: number; milliseconds: number }] };

interface WriteBatcherOptions {
  table: PlantTable;
  /** Insert statements that run at once, at most. */
  maxInFlight: number;
  /** Plants in one statement, at most. */
  maxBatch?: number;
  /** Milliseconds after which a running statement is slow, and a partly filled one starts beside it. */
  slowAfter?: number;
  /** Plants that may wait for a statement; fewer when the database is too slow for so many. */
  maxQueue?: number;
  /** Milliseconds in which a create is answered when its caller sets no deadline. */
  timeout?: number;
}

/**
 * Coalesces concurrent creates: while one statement runs, the next plants gather and go together in
 * one statement and one commit. A single create goes at once. A second statement starts only when it
 * is full or the first is slow: two half batches cost more than a whole one.
 */
export class WriteBatcher {
  /** An error that a listener throws becomes a warning of the process; the batch stays committed. */
  readonly events = new EventEmitter<StoreEvents>();
  readonly #options: Required<WriteBatcherOptions>;
  readonly #queue: CreateQueue;
  readonly #inFlight = new Set<PendingCreate[]>();
  /** Those in flight that are not slow yet. */
  readonly #recentlySent = new Set<PendingCreate[]>();
  /** Milliseconds of a recent statement, as a moving average; 0 until one has returned. */
  #latency = 0;
  #isClosing = false;

  constructor(options: WriteBatcherOptions) {
    const defaults = { maxBatch: 128, slowAfter: 50, maxQueue: 10_000, timeout: defaultTimeout };
    this.#options = { ...defaults, ...options };
    this.#queue = new CreateQueue(this.#options.maxBatch, this.#options.maxQueue);
  }

  /** See `PlantStore.create`. */
  async create(plant: NewPlant, options: CallOptions = {}): Promise<Plant> {
    // Internal tools call this too, and may have bypassed the types.
    const { data, error } = NewPlant.safeParse(plant);
    if (error) throw invalidInput(error);

    const { deadline = performance.now() + this.#options.timeout } = options;
    if (this.#isClosing) throw createNotStarted('shuttingDown', 'the store is closing');
    if (this.#queue.isFull || this.#isTooSlowFor(deadline)) {
      throw createNotStarted('overloaded', `${this.#queue.size} creates are waiting already`);
    }
    const pending = new PendingCreate(data, deadline, () => this.#queue.dropAnswered());
    this.#queue.add(pending);
    this.#send();
    return pending.outcome;
  }

  /** See `PlantStore.pending`. */
  get pending(): { waiting: number; inFlight: number } {
    return { waiting: this.#queue.size, inFlight: [...this.#inFlight].flat().length };
  }

  /** Takes no further creates; resolves when all earlier ones are answered. */
  async drained(): Promise<void> {
    this.#isClosing = true;
    const open = [...this.#queue, ...[...this.#inFlight].flat()];
    await Promise.allSettled(open.map(({ outcome }) => outcome));
  }

  #send(): void {
    const { maxInFlight, slowAfter } = this.#options;
    while (this.#queue.size > 0 && this.#inFlight.size < maxInFlight) {
      if (this.#recentlySent.size > 0 && this.#queue.fullStatements === 0) return;
      const batch = this.#queue.take();
      this.#inFlight.add(batch);
      this.#recentlySent.add(batch);
      const slowTimer = setTimeout(() => {
        this.#recentlySent.delete(batch);
        this.#send();
      }, slowAfter);
      const sentAt = performance.now();
      void this.#write(batch).then(() => {
        clearTimeout(slowTimer);
        this.#recentlySent.delete(batch);
        this.#inFlight.delete(batch);
        this.#updateLatency(performance.now() - sentAt);
        this.#send();
      });
    }
  }

  /** Writes a batch and answers its creates; never rejects. */
  async #write(batch: PendingCreate[]): Promise<void> {
    const open = batch.filter(({ isAnswered }) => !isAnswered);
    if (open.length === 0) return;
    const { table } = this.#options;
    const plants = splitById(open).first.map(({ plant }) => plant);
    try {
      const sentAt = performance.now();
      const inserted = await table.insert(plants);
      this.#emitBatch({ size: plants.length, milliseconds: performance.now() - sentAt });
      const taken = plants.flatMap(({ id }) => (inserted.has(id) ? [] : [id]));
      const found = taken.length > 0 ? await table.find(taken) : [];
      const deleted = answerAll(open, [...plants.filter(({ id }) => inserted.has(id)), ...found]);
      if (deleted.length > 0) await this.#write(deleted);
    } catch (error) {
      if (!isDataError(error)) return failAll(open, createUnanswered(error));
      if (open.length === 1) return failAll(open, plantRejected(error));
      await bisect(open, (half) => this.#write(half));
    }
  }

  /**
   * Whether a create now may be answered after its deadline. The plants of the next statement may
   * always gather: they keep a slow database busy, and show when it is fast again.
   */
  #isTooSlowFor(deadline: Deadline): boolean {
    const ahead = this.#queue.fullStatements;
    if (ahead === 0) return false;
    // The running statements, those of the creates ahead, and its own.
    const statements = 2 + Math.floor(ahead / this.#options.maxInFlight);
    return statements * this.#latency > 0.8 * (deadline - performance.now());
  }

  /**
   * Each statement counts an eighth, so that one statement that timed out changes little. An idle
   * batcher forgets the latency: the database may be faster by the next create.
   */
  #updateLatency(latency: number): void {
    const isIdle = this.#queue.size === 0 && this.#inFlight.size === 0;
    this.#latency = isIdle ? 0 : this.#latency + (latency - this.#latency) / 8;
  }

  #emitBatch(batch: StoreEvents['batch'][0]): void {
    try {
      this.events.emit('batch', batch);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

/**
 * Compares each create with the plant that is stored under its id. Returns the creates without such a
 * plant: their id was taken, and its plant was deleted before the comparison.
 */
function answerAll(
  creates: readonly PendingCreate[],
  stored: readonly NewPlant[],
): PendingCreate[] {
  const byId = new Map(stored.map((plant) => [plant.id, plant]));
  return creates.filter((create) => {
    const there = byId.get(create.plant.id);
    if (there) create.answer(there);
    return !there;
  });
}

function failAll(creates: readonly PendingCreate[], error: PlantStoreError): void {
  for (const create of creates) create.fail(error);
}
