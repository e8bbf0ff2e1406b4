import type { ErrorKind, NewPlant, Plant } from '@plant-store/schemas';
import { CreateQueue } from './create-queue.ts';
import { createUnanswered, isDataError, plantRefused } from '../database/database-error.ts';
import { deadline } from '../database/timeout.ts';
import { PendingCreate } from './pending-create.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import type { PlantTable } from './plant-table.ts';

/** Told of each batch that the database has taken: how many plants it had and how long it took. */
export type BatchListener = (batch: { size: number; milliseconds: number }) => void;

interface WriteBatcherOptions {
  table: PlantTable;
  /** Statements under way at once. */
  maxInFlight: number;
  /** Plants in one statement. */
  maxBatch?: number;
  /** Milliseconds that the others wait for a statement to return before they go beside it. */
  patience?: number;
  /**
   * Plants waiting for a statement; beyond it creates are refused, and before it where the database
   * is too slow for so many.
   */
  maxQueue?: number;
  /** Milliseconds in which every create is answered. */
  deadline?: number;
}

/**
 * Coalesces concurrent creates: while a statement is under way the next plants gather, then go
 * together in one statement and one commit. A lone create goes at once. Statements go beside each
 * other only when they are full or the others are slow: two half batches cost more than a whole one.
 */
export class WriteBatcher {
  readonly #options: Required<WriteBatcherOptions>;
  readonly #queue: CreateQueue;
  readonly #inFlight = new Set<PendingCreate[]>();
  /** Those in flight that are expected back soon. */
  readonly #young = new Set<PendingCreate[]>();
  /** Milliseconds that a statement takes, lately; 0 until some have returned. */
  #latency = 0;
  #isClosing = false;
  onBatch: BatchListener = () => {};

  constructor(options: WriteBatcherOptions) {
    this.#options = { maxBatch: 128, patience: 50, maxQueue: 10_000, deadline, ...options };
    this.#queue = new CreateQueue(this.#options.maxBatch, this.#options.maxQueue);
  }

  /** See `PlantStore.create`. */
  async create(plant: NewPlant, within = this.#options.deadline): Promise<Plant> {
    if (this.#isClosing) throw refused('shuttingDown', 'the store is closing');
    // What may be answered too late is not begun: it could be written for nobody.
    if (this.#queue.isFull || this.#timeToAnswer() > 0.8 * within) {
      throw refused('overloaded', `${this.#queue.size} creates are waiting already`);
    }

    const pending = new PendingCreate(plant, within, () => this.#queue.dropAnswered());
    this.#queue.add(pending);
    this.#send();
    return pending.outcome;
  }

  /** See `PlantStore.pending`. */
  get pending(): { waiting: number; inFlight: number } {
    return { waiting: this.#queue.size, inFlight: [...this.#inFlight].flat().length };
  }

  /** Refuses further creates and resolves when those under way are answered. */
  async drained(): Promise<void> {
    this.#isClosing = true;
    const open = [...this.#queue, ...[...this.#inFlight].flat()];
    await Promise.allSettled(open.map(({ outcome }) => outcome));
  }

  #send(): void {
    const { maxInFlight, patience } = this.#options;
    while (this.#queue.size > 0 && this.#inFlight.size < maxInFlight) {
      if (this.#young.size > 0 && this.#queue.fullStatements === 0) return;
      const batch = this.#queue.take();
      this.#inFlight.add(batch);
      this.#young.add(batch);
      const isSlow = setTimeout(() => {
        this.#young.delete(batch);
        this.#send();
      }, patience);
      const sentAt = performance.now();
      void this.#write(batch).then(() => {
        clearTimeout(isSlow);
        this.#young.delete(batch);
        this.#inFlight.delete(batch);
        this.#noteLatency(performance.now() - sentAt);
        this.#send();
      });
    }
  }

  /**
   * Milliseconds until the next create is answered, at the longest. What fits into one statement may
   * always gather: a slow database is kept busy, and seen when it is fast again.
   */
  #timeToAnswer(): number {
    const ahead = this.#queue.fullStatements;
    if (ahead === 0) return 0;
    // The statements under way, those of the creates before it, its own.
    return (2 + Math.floor(ahead / this.#options.maxInFlight)) * this.#latency;
  }

  /**
   * Each statement weighs an eighth, so that one that hung until its deadline changes little. What
   * was learnt is forgotten when there is nothing to do, since the database may be another by then.
   */
  #noteLatency(latency: number): void {
    const isIdle = this.#queue.size === 0 && this.#inFlight.size === 0;
    this.#latency = isIdle ? 0 : this.#latency + (latency - this.#latency) / 8;
  }

  /** Writes a batch and answers its creates; never rejects. */
  async #write(batch: PendingCreate[]): Promise<void> {
    const open = batch.filter(({ isAnswered }) => !isAnswered);
    if (open.length === 0) return;
    try {
      await this.#insert(open);
    } catch (error) {
      if (!isDataError(error)) return failAll(open, createUnanswered(error));
      if (open.length === 1) return failAll(open, plantRefused(error));
      // Some plant in here is at fault: halve until it stands alone.
      const middle = open.length >> 1;
      await this.#write(open.slice(0, middle));
      await this.#write(open.slice(middle));
    }
  }

  async #insert(batch: PendingCreate[]): Promise<void> {
    const { table } = this.#options;
    const byId = Map.groupBy(batch, ({ plant }) => plant.id);
    // Of several creates for one id the first is sent; the others are compared with what is stored.
    // In order of id, since batches that overlap in different orders deadlock.
    const plants = [...byId.values()].flatMap(([first]) => (first ? [first.plant] : []));
    plants.sort((a, b) => (a.id < b.id ? -1 : 1));

    const sentAt = performance.now();
    const inserted = await table.insert(plants);
    this.#tell({ size: plants.length, milliseconds: performance.now() - sentAt });
    // Where an id was taken, every plant is compared with what is stored under its id.
    const isAllNew = inserted === plants.length;
    const stored = isAllNew ? plants : await table.find(plants.map(({ id }) => id));

    for (const plant of stored) {
      for (const pending of byId.get(plant.id) ?? []) pending.answer(plant);
    }
    // What was neither inserted nor found was deleted in between.
    if (stored.length < plants.length) failAll(batch, createUnanswered());
  }

  /** The plants are committed, whatever goes wrong in who is told of it. */
  #tell(batch: Parameters<BatchListener>[0]): void {
    try {
      this.onBatch(batch);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

function failAll(batch: PendingCreate[], error: PlantStoreError): void {
  for (const pending of batch) pending.fail(error);
}

function refused(kind: ErrorKind, why: string): PlantStoreError {
  return new PlantStoreError(kind, `${why}: nothing was written, send the plant again later`);
}
