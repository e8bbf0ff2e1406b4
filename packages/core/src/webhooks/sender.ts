import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { isTemporary, maxPageSize } from '@plant-store/schemas';
import { type Cursor, isBehind } from '../changes/cursor.ts';
import type { Feed } from '../changes/feed.ts';
import { type ChangeText, changeJson } from '../changes/read-changes.ts';
import type { Database } from '../database/database.ts';
import { outcomeOf } from '../database/errors.ts';
import { PlantStoreError, rootMessage } from '../plant-store-error.ts';
import type { AllowedTargets } from './addresses.ts';
import { post } from './post.ts';
import * as sql from './statements.ts';
import { cursorValues, positionOf, type WebhookRow, writeWebhook } from './statements.ts';

/** The seconds before each retry, about three days together. The delay is longer by up to 10%. */
export const retryDelays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The maximum number of endpoints to which an instance sends at the same time. */
const maxRunning = 20;

/** The maximum number of changes in a message, and of their bytes. One change may be larger. */
const maxChanges = 100;
const maxBytes = 20_000;

/** The maximum number of milliseconds between two searches for due endpoints. */
const lookInterval = 2_000;

interface SenderOptions {
  readonly database: Pick<Database, 'read' | 'write'>;
  readonly feed: Pick<Feed, 'read' | 'pageAfter' | 'end'>;
  readonly allowed: AllowedTargets;
  readonly delays: readonly number[];
  readonly warn: (message: string) => void;
}

/**
 * Sends changes to the endpoints of all instances. An instance claims an endpoint for one message: it reads the
 * changes after the endpoint's position, sends them, and saves the new position. An instance that stops in
 * between loses its claim after a minute, and another instance sends the same message.
 */
export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  /** Is aborted when the loop should look for endpoints immediately. */
  #wait = new AbortController();
  #loop: Promise<void> | undefined;
  #lastWarning = '';

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Call this method after a change of an endpoint. */
  notice(): void {
    this.#wait.abort();
  }

  /** Ends all requests. Another instance repeats their messages. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wait.abort();
    await this.#loop;
    await Promise.all(this.#running);
  }

  /** Looks for endpoints that are due after each change of a plant or of an endpoint, and after `lookInterval`. */
  async #run(): Promise<void> {
    const { database, feed } = this.#options;
    let end: Cursor | undefined;
    while (!this.#stopping.signal.aborted) {
      this.#wait = new AbortController();
      const signal = AbortSignal.any([this.#wait.signal, AbortSignal.timeout(lookInterval)]);
      try {
        const { rows } = await database.read(sql.hasActiveWebhook, [], { kind: 'reads' });
        if (rows.length > 0) {
          end ??= (await feed.end()).end;
          await this.#claimAll(end);
          end = (await feed.pageAfter(end, maxPageSize, { signal })).end;
          continue;
        }
      } catch (error) {
        if (signal.aborted) continue;
        this.#explain(error);
      }
      // No endpoint is active, the database is down, or the feed begins anew.
      end = undefined;
      if (!signal.aborted) await once(signal, 'abort');
    }
  }

  /** Sends to each endpoint that is due. */
  async #claimAll(end: Cursor): Promise<void> {
    while (this.#running.size < maxRunning) {
      const row = await this.#write(sql.claimWebhook, cursorValues(end));
      if (!row) return;
      const sending = this.#send(row, end)
        .catch((error) => this.#abandon(row, error))
        .finally(() => {
          this.#running.delete(sending);
          this.notice();
        });
      this.#running.add(sending);
    }
  }

  /** Sends the next message to an endpoint that this instance has claimed, and saves the outcome. */
  async #send(row: WebhookRow, end: Cursor): Promise<void> {
    const { url, secret } = row;
    const claim = [row.name, row.due_at];
    const { id, body, to } = await this.#nextMessage(row, end);
    const save = (attempt: string | null) =>
      this.#write(sql.savePosition, [...claim, ...cursorValues(to), attempt]);
    if (body === undefined) return void (await save(null));
    const isBegun = id === row.message_id;
    const message = [id, String(to.transaction), String(to.id)];
    if (!isBegun && !(await this.#write(sql.beginMessage, [...claim, ...message]))) return;
    const attempt = await post(
      url,
      { id, body, secret },
      { allowed: this.#options.allowed, signal: this.#stopping.signal },
    );
    if (attempt.error === undefined) return void (await save(JSON.stringify(attempt)));
    const delay = this.#options.delays[row.failures];
    const isGone = attempt.status === 410;
    const failed = `${row.failures + 1} attempts failed`;
    const why = isGone ? 'the endpoint is gone (status 410)' : delay === undefined ? failed : null;
    const seconds = (delay ?? 0) * (1 + Math.random() / 10);
    await this.#write(sql.saveFailure, [...claim, String(seconds), why, JSON.stringify(attempt)]);
    if (why !== null) {
      const advice = 'plant-store webhook show names the last error, and webhook resume continues';
      const name = JSON.stringify(row.name);
      this.#options.warn(`the webhook ${name} is paused, because ${why}: ${advice}`);
    }
  }

  /**
   * Reads the changes of the next message, or of the message that must be repeated. `to` is the position that
   * the endpoint reaches with the message. Without changes, the message has no body.
   */
  async #nextMessage(
    row: WebhookRow,
    feedEnd: Cursor,
  ): Promise<{ id: string; body?: string; to: Cursor }> {
    const { feed } = this.#options;
    const id = `msg_${randomUUID()}`;
    try {
      const page = await feed.read(positionOf(row), maxChanges);
      if (page.changes.length === 0) {
        return { id, to: isBehind(feedEnd, page.end) ? feedEnd : page.end };
      }
      const begun = row.message_id !== null && {
        ...page.end,
        transaction: BigInt(row.to_transaction ?? 0),
        id: BigInt(row.to_id ?? 0),
      };
      const changes = firstThatFit(
        page.changes.filter(({ position }) => !begun || !isBehind(position, begun)),
      );
      const last = changes.at(-1)?.position;
      // Without changes, each plant of the message has a newer change.
      if (!last) return { id, to: begun || page.end };
      // This page may end before the message did, because each instance keeps pages of its own.
      const isWhole = changes.length === page.changes.length;
      const to = isWhole ? page.end : { ...page.end, ...last };
      const body = messageBody('plants.changed', `{"changes":[${changes.map(changeJson)}]}`);
      return { id: row.message_id ?? id, body, to };
    } catch (error) {
      if (!(error instanceof PlantStoreError) || error.kind !== 'cursorExpired') throw error;
      // The endpoint must list the plants again, because the feed has forgotten changes.
      return { id, body: messageBody('plants.reset'), to: (await feed.end()).end };
    }
  }

  /** Runs a statement that returns at most one row. */
  #write(text: string, values: (string | null)[]): Promise<WebhookRow | undefined> {
    return writeWebhook(this.#options.database, text, values);
  }

  /** After an error, the claim ends by itself. When this process stops, another instance continues. */
  async #abandon({ name, due_at: claim }: WebhookRow, error: unknown): Promise<void> {
    this.#explain(error);
    if (this.#stopping.signal.aborted)
      await this.#write(sql.releaseWebhook, [name, claim]).catch(() => {});
  }

  /** Emits a warning about an error, unless the last warning had the same text. */
  #explain(error: unknown): void {
    // The server already warns when the database is down. Another instance continues when this one stops.
    const { kind, code = 0 } = error instanceof PlantStoreError ? error : {};
    const isDown = isTemporary(code) && outcomeOf(error) !== 'rolledBack';
    const warning = `the webhooks wait: ${rootMessage(error)}`;
    const isTold = isDown || kind === 'cursorExpired' || warning === this.#lastWarning;
    if (isTold || this.#stopping.signal.aborted) return;
    this.#lastWarning = warning;
    this.#options.warn(warning);
  }
}

/** Makes the body of a message, by default without data. */
export function messageBody(
  type: 'plants.changed' | 'plants.reset' | 'plants.test',
  data = '{}',
): string {
  return `{"type":"${type}","timestamp":"${new Date().toISOString()}","data":${data}}`;
}

/** Returns the first changes, as many as fit into a message. */
function firstThatFit(changes: readonly ChangeText[]): readonly ChangeText[] {
  let bytes = 0;
  const tooMany = changes.findIndex(({ plant }, i) => {
    bytes += Buffer.byteLength(plant) + 30;
    return i > 0 && bytes > maxBytes;
  });
  return tooMany < 0 ? changes : changes.slice(0, tooMany);
}
