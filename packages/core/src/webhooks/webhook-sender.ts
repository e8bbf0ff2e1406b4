import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { isTemporary } from '@plant-store/schemas/plain';
import { rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { type Sending, sendChanges } from './send-changes.ts';
import { type HeldWebhook, leaseSeconds, maxWait, type WebhookTable } from './webhook-table.ts';

/** A running call of `sendChanges`. */
interface Run {
  readonly revision: number;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** Sends changes to the endpoints that this instance claims. One statement claims all endpoints. */
export function createWebhookSender(table: WebhookTable, options: Sending) {
  const instance = randomUUID();
  const runs = new Map<string, Run>();
  let wake = () => {};
  let lastWarning = '';
  let isStopped = false;
  let claimedAt = Number.NEGATIVE_INFINITY;
  const isHeld = () => performance.now() - claimedAt < leaseSeconds * 1_000;
  let loop: Promise<void> | undefined;

  return {
    start(): void {
      loop ??= run();
    },
    /** Call this function after this process has run a command of the operator. */
    notice: () => wake(),
    /** Ends all requests, and releases the endpoints, so that other instances can continue immediately. */
    async stop(): Promise<void> {
      isStopped = true;
      wake();
      await loop;
    },
  };

  async function run(): Promise<void> {
    while (!isStopped) {
      const noticed = Promise.withResolvers<void>();
      wake = noticed.resolve;
      if (!isHeld()) endAll();
      const sentAt = performance.now();
      try {
        await claim(sentAt);
      } catch (error) {
        explain(error);
      }
      if (isStopped) break;
      await Promise.race([setTimeout(maxWait * 1_000, undefined, { ref: false }), noticed.promise]);
    }
    const ended = [...runs.values()].map((each) => each.ended);
    endAll();
    await Promise.all(ended);
    if (ended.length > 0) await table.release(instance).catch(() => {});
  }

  async function claim(sentAt: number): Promise<void> {
    const held = await table.claim(instance);
    claimedAt = sentAt;
    const revisions = new Map(held.map(({ name, revision }) => [name, revision]));
    for (const [name, { revision, controller }] of runs) {
      if (revisions.get(name) !== revision) controller.abort();
    }
    for (const row of held) {
      if (row.wait <= maxWait && !runs.has(row.name)) send(row);
    }
  }

  function send(row: HeldWebhook): void {
    const { name, revision } = row;
    const controller = new AbortController();
    const { signal } = controller;
    const ended = sendChanges(row, {
      ...options,
      signal,
      isHeld,
      advance: (held, change) => table.advance(held, instance, change),
    })
      .catch((error) => {
        if (!signal.aborted) explain(error);
      })
      .finally(() => {
        runs.delete(name);
        if (signal.aborted) wake(); // The next claim reads the new settings of the endpoint.
      });
    runs.set(name, { revision, controller, ended });
  }

  function endAll(): void {
    for (const { controller } of runs.values()) controller.abort();
  }

  /** Emits a warning about an error, unless the last warning had the same text. */
  function explain(error: unknown): void {
    // No warning when the database is down, because the server already warns. No warning when this instance
    // shuts down, because another instance sends the changes.
    const isDown = error instanceof PlantStoreError && isTemporary(error.kind);
    const isKnown = isDown && !error.databaseCode?.startsWith('42');
    const warning = `the webhooks wait: ${rootMessage(error)}`;
    if (isKnown || isStopped || warning === lastWarning) return;
    lastWarning = warning;
    options.warn(warning);
  }
}
