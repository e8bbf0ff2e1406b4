import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { isTemporary } from '@plant-store/schemas/plain';
import { rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { maxWait, type Sending, sendChanges } from './send-changes.ts';
import { type HeldWebhook, leaseSeconds, type WebhookTable } from './webhook-table.ts';

/** A running call of `sendChanges`. */
interface Run {
  readonly revision: number;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** Sends changes to the endpoints that this instance holds. One statement claims and reads all endpoints. */
export class WebhookSender {
  readonly #instance = randomUUID();
  readonly #table: WebhookTable;
  readonly #options: Sending;
  readonly #mayClaim: () => boolean;
  readonly #runs = new Map<string, Run>();
  #claimedAt = Number.NEGATIVE_INFINITY;
  #wake = () => {};
  #lastWarning = '';
  #isStopped = false;
  #loop: Promise<void> | undefined;

  /** @param mayClaim returns whether the database can have endpoints. A cluster cannot have endpoints. */
  constructor(table: WebhookTable, mayClaim: () => boolean, options: Sending) {
    this.#table = table;
    this.#mayClaim = mayClaim;
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Call this method after this process has run a command of the operator. */
  notice(): void {
    this.#wake();
  }

  /** Ends all requests, and releases the endpoints, so that other instances can continue immediately. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const noticed = Promise.withResolvers<void>();
      this.#wake = noticed.resolve;
      if (this.#mayClaim()) await this.#claim().catch((error) => this.#explain(error));
      if (performance.now() - this.#claimedAt > leaseSeconds * 1_000) this.#endAll();
      if (this.#isStopped) break;
      await Promise.race([setTimeout(maxWait * 1_000, undefined, { ref: false }), noticed.promise]);
    }
    const ended = [...this.#runs.values()].map((run) => run.ended);
    this.#endAll();
    await Promise.all(ended);
    if (ended.length > 0) await this.#table.release(this.#instance).catch(() => {});
  }

  async #claim(): Promise<void> {
    const sentAt = performance.now();
    const held = await this.#table.claim(this.#instance);
    this.#claimedAt = sentAt;
    const revisions = new Map(held.map(({ name, revision }) => [name, revision]));
    for (const [name, run] of this.#runs) {
      if (revisions.get(name) !== run.revision) run.controller.abort(stopped);
    }
    for (const row of held) {
      if (row.wait <= maxWait && !this.#runs.has(row.name)) this.#send(row);
    }
  }

  #send(row: HeldWebhook): void {
    const controller = new AbortController();
    const { signal } = controller;
    const ended = sendChanges(row, {
      ...this.#options,
      signal,
      advance: (row, change) => this.#table.advance(row, this.#instance, change),
    })
      .catch((error) => {
        if (!signal.aborted) this.#explain(error);
      })
      .finally(() => {
        this.#runs.delete(row.name);
        if (signal.aborted) this.#wake(); // The next claim reads the operator's new settings.
      });
    this.#runs.set(row.name, { revision: row.revision, controller, ended });
  }

  #endAll(): void {
    for (const { controller } of this.#runs.values()) controller.abort(stopped);
  }

  /**
   * Warns of an error, unless the last warning was the same. After an error, the next claim continues the
   * work.
   */
  #explain(error: unknown): void {
    // The server has other reports of a database that is down. After the error `shuttingDown`, another
    // instance sends the changes.
    const isDown = error instanceof PlantStoreError && isTemporary(error.kind);
    const isKnown = isDown && !error.databaseCode?.startsWith('42');
    const warning = `the webhooks wait: ${rootMessage(error)}`;
    if (isKnown || this.#isStopped || warning === this.#lastWarning) return;
    this.#lastWarning = warning;
    this.#options.warn(warning);
  }
}

const stopped = new Error('this instance no longer sends to the endpoint');
