import { EventEmitter } from 'node:events';
import { NewPlant, type Plant } from '@plant-store/schemas';
import { invalidInput } from '../../plant-store-error.ts';
import { notAccepted } from '../create-errors.ts';
import { type CallOptions, type Deadline, defaultTimeout } from '../deadline.ts';
import { CreateQueue } from './create-queue.ts';
import type { NodeDetour, NodeState } from './node-health.ts';
import { PendingCreate } from './pending-create.ts';
import type { PlantTable } from './plant-table.ts';
import type { SendTurn } from './send-turn.ts';
import { type CommittedBatch, writeBatch } from './write-batch.ts';

/**
 * The store emits `batch` after each committed insert statement, `node` when the plants of a node of a
 * cluster cannot be written any more, or can be written again, and `detour` when creates of a node begin
 * or stop to go through another node.
 */
export type StoreEvents = { batch: [CommittedBatch]; node: [NodeState]; detour: [NodeDetour] };

interface WriteBatcherOptions {
  table: PlantTable;
  /** Batches that are written at the same time, at most. */
  maxInFlight: number;
  /** Plants in one statement, at most. */
  maxBatch?: number;
  /** Milliseconds after which a batch in flight is slow, so that a partly filled one may follow. */
  slowAfter?: number;
  /** Plants that may wait, at most; fewer when the database is slow. */
  maxQueue?: number;
  /** Milliseconds within which a create is answered when its caller sets no deadline. */
  timeout?: number;
  /** When the queue may send while the database is busy; shared with the queues of other nodes. */
  turn?: SendTurn;
}

/**
 * Coalesces concurrent creates. A single create is sent at once. Creates that arrive while its
 * statement runs wait, and are then sent together in one statement and one commit. A second statement
 * starts beside the first only when it is full or the first one is slow: two half-full statements
 * cost more than a full one. While the database is busy, the `turn` makes statements fuller still.
 */
export class WriteBatcher {
  /** An error that a listener throws becomes a process warning. The batch stays committed. */
  readonly events = new EventEmitter<StoreEvents>();
  readonly #options: Required<Omit<WriteBatcherOptions, 'turn'>>;
  readonly #turn: SendTurn | undefined;
  readonly #queue: CreateQueue;
  readonly #inFlight = new Set<PendingCreate[]>();
  /** The batches in flight that are not slow yet. */
  readonly #recentlySent = new Set<PendingCreate[]>();
  /** Milliseconds that a batch takes, as a moving average; 0 while it is unknown. */
  #latency = 0;
  #isClosing = false;

  constructor(options: WriteBatcherOptions) {
    const defaults = { maxBatch: 128, slowAfter: 50, maxQueue: 10_000, timeout: defaultTimeout };
    this.#options = { ...defaults, ...options };
    this.#turn = options.turn;
    this.#turn?.join(this.#send);
    this.#queue = new CreateQueue(this.#options.maxBatch, this.#options.maxQueue);
  }

  /** See `PlantStore.create`. */
  async create(plant: NewPlant, options: CallOptions = {}): Promise<Plant> {
    // Internal tools also call this method, and may bypass the types.
    const { data, error } = NewPlant.safeParse(plant);
    if (error) throw invalidInput(error);

    const { deadline = performance.now() + this.#options.timeout } = options;
    if (this.#isClosing) throw notAccepted('shuttingDown', 'the store is closing');
    if (this.#queue.isFull || this.#isTooSlowFor(deadline)) {
      throw notAccepted('overloaded', `${this.#queue.size} creates are waiting already`);
    }
    const pending = new PendingCreate(data, deadline, () => this.#queue.dropAnswered());
    this.#queue.add(pending);
    this.#turn?.arrived();
    this.#send();
    return pending.outcome;
  }

  /** See `PlantStore.pending`. */
  get pending(): { waiting: number; inFlight: number } {
    return { waiting: this.#queue.size, inFlight: [...this.#inFlight].flat().length };
  }

  /** Accepts no further creates; resolves when all earlier ones are answered. */
  async drained(): Promise<void> {
    this.#isClosing = true;
    const unanswered = [...this.#queue, ...[...this.#inFlight].flat()];
    await Promise.allSettled(unanswered.map(({ outcome }) => outcome));
  }

  readonly #send = (): void => {
    const { table, maxInFlight, slowAfter } = this.#options;
    while (this.#queue.size > 0 && this.#inFlight.size < maxInFlight) {
      const isEarly = this.#recentlySent.size > 0 || this.#turn?.isTaken;
      if (isEarly && this.#queue.fullStatements === 0) return;
      const batch = this.#queue.take();
      this.#inFlight.add(batch);
      this.#recentlySent.add(batch);
      this.#turn?.sent(this.#send, batch);
      const slowTimer = setTimeout(() => {
        this.#recentlySent.delete(batch);
        this.#turn?.isSlow(batch);
        this.#send();
      }, slowAfter);
      const sentAt = performance.now();
      void writeBatch(table, batch, (committed) => this.#emitBatch(committed)).then(() => {
        clearTimeout(slowTimer);
        this.#recentlySent.delete(batch);
        this.#inFlight.delete(batch);
        const duration = performance.now() - sentAt;
        this.#updateLatency(duration);
        this.#turn?.ended(batch, { creates: batch.length, duration });
        this.#send();
      });
    }
  };

  /**
   * Whether a create that is queued now would probably miss its deadline. The next statement may
   * always be filled: it keeps a slow database busy, and it shows when the database is fast again.
   */
  #isTooSlowFor(deadline: Deadline): boolean {
    const ahead = this.#queue.fullStatements;
    if (ahead === 0) return false;
    // One running statement, its own, and the ones ahead: `maxInFlight` of them run at the same time.
    const statements = 2 + Math.floor(ahead / this.#options.maxInFlight);
    return statements * this.#latency > 0.8 * (deadline - performance.now());
  }

  /**
   * Each batch counts an eighth, so that one batch that timed out changes little. An idle batcher
   * resets the latency, because the database may be faster when the next create arrives.
   */
  #updateLatency(latency: number): void {
    const isIdle = this.#queue.size === 0 && this.#inFlight.size === 0;
    this.#latency = isIdle ? 0 : this.#latency + (latency - this.#latency) / 8;
  }

  #emitBatch(batch: CommittedBatch): void {
    try {
      this.events.emit('batch', batch);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
