import { createHash, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { isTemporary, maxPageSize } from '@plant-store/schemas/plain';
import { type Cursor, formatCursor, isBehind, parseCursor } from '../changes/cursor.ts';
import type { Feed } from '../changes/feed.ts';
import type { Database } from '../database/database.ts';
import { isStatementError } from '../database/errors.ts';
import { PlantStoreError, rootMessage } from '../plant-store-error.ts';
import type { ChangeText } from '../plants/output-text.ts';
import type { AllowedTargets } from './addresses.ts';
import { post } from './post.ts';
import { type WebhookRow, writeRow } from './rows.ts';
import {
  beginMessage,
  claimWebhook,
  hasActiveWebhook,
  releaseWebhook,
  saveFailure,
  savePosition,
} from './statements.ts';

/** The seconds before each retry, about three days together. The delay is longer by up to 10%. */
export const retryDelays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The maximum number of endpoints to which an instance sends at the same time. */
const maxRunning = 20;

/** The maximum number of changes in a message, and of their bytes. One change may be larger. */
const maxChanges = 100;
const maxBytes = 20_000;

/** Milliseconds between two looks for endpoints that are due. */
const lookInterval = 2_000;

interface SenderOptions {
  readonly database: Pick<Database, 'read' | 'write'>;
  readonly feed: Pick<Feed, 'read' | 'pageAfter' | 'end'>;
  readonly allowed: AllowedTargets;
  readonly delays: readonly number[];
  readonly warn: (message: string) => void;
}

/** A message, and the position that the endpoint has reached when it accepts the message. */
interface NextMessage {
  readonly id: string;
  readonly body: string;
  readonly to: Cursor;
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
  #wake = () => {};
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
    this.#wake();
  }

  /** Ends all requests. Another instance repeats their messages. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#loop;
    await Promise.all(this.#running);
  }

  async #run(): Promise<void> {
    let end: Cursor | undefined;
    while (!this.#stopping.signal.aborted) {
      const pause = new AbortController();
      const woken = Promise.withResolvers<void>();
      this.#wake = woken.resolve;
      const waits: Promise<unknown>[] = [woken.promise];
      try {
        end = (await this.#hasActive())
          ? (end ?? (await this.#options.feed.end()).next)
          : undefined;
        if (end) {
          await this.#claimAll(end);
          const { signal } = pause;
          // If the feed begins anew, the next turn asks for its end.
          const news = this.#options.feed.pageAfter(end, maxPageSize, { signal }).then(
            ({ next }) => next,
            () => undefined,
          );
          waits.push(
            news.then((next) => {
              if (!pause.signal.aborted) end = next;
            }),
          );
        }
      } catch (error) {
        end = undefined;
        this.#explain(error);
      }
      waits.push(setTimeout(lookInterval, undefined, { ref: false, signal: pause.signal }));
      await Promise.race(waits).catch(() => {});
      pause.abort();
      await Promise.allSettled(waits.slice(1));
    }
  }

  async #hasActive(): Promise<boolean> {
    const { rows } = await this.#options.database.read(hasActiveWebhook, [], { kind: 'reads' });
    return rows.length > 0;
  }

  /** Sends to each endpoint that is due. */
  async #claimAll({ epoch, transaction, id }: Cursor): Promise<void> {
    while (this.#running.size < maxRunning) {
      const row = await this.#write(claimWebhook, [epoch, String(transaction), String(id)]);
      if (!row) return;
      const sending = this.#send(row, { epoch, transaction, id })
        .catch((error) => this.#abandon(row, error))
        .finally(() => {
          this.#running.delete(sending);
          this.#wake();
        });
      this.#running.add(sending);
    }
  }

  /** Sends the next message to an endpoint that this instance has claimed, and saves the outcome. */
  async #send(row: WebhookRow, end: Cursor): Promise<void> {
    const claim = [row.name, row.due_at];
    const save = (to: Cursor, attempt: object | null) => {
      const position = [to.epoch, String(to.transaction), String(to.id)];
      return this.#write(savePosition, [...claim, ...position, attempt && JSON.stringify(attempt)]);
    };
    const message = await this.#nextMessage(row, end);
    if (!message.id) return void (await save(message.to, null));
    if (message.id !== row.message_id) {
      const to = [String(message.to.transaction), String(message.to.id)];
      if (!(await this.#write(beginMessage, [...claim, message.id, ...to]))) return;
    }
    const { signal } = this.#stopping;
    const { retryAfter = 0, ...attempt } = await post(
      row.url,
      { id: message.id, body: message.body, secret: row.secret },
      { allowed: this.#options.allowed, signal },
    );
    if (attempt.error === undefined) return void (await save(message.to, attempt));
    const delay = this.#options.delays[row.failures];
    const isGone = attempt.status === 410;
    const why = isGone
      ? 'the endpoint is gone (status 410)'
      : `${row.failures + 1} attempts failed`;
    const isLast = isGone || delay === undefined;
    const seconds = Math.max(retryAfter, (delay ?? 0) * (1 + Math.random() / 10));
    const failure = [String(seconds), isLast ? why : null, JSON.stringify(attempt)];
    await this.#write(saveFailure, [...claim, ...failure]);
    if (isLast) {
      const advice = 'plant-store webhook show names the last error, and webhook resume continues';
      this.#options.warn(
        `the webhook ${JSON.stringify(row.name)} is paused, because ${why}: ${advice}`,
      );
    }
  }

  /** Reads the changes of the next message, or of the message that must be repeated. An empty id: no changes. */
  async #nextMessage(row: WebhookRow, feedEnd: Cursor): Promise<NextMessage> {
    const { epoch, transaction, last_id: id, to_transaction: to, to_id: toId } = row;
    const from = { epoch, transaction: BigInt(transaction), id: BigInt(id) };
    const known =
      row.message_id === null || to === null
        ? undefined
        : { epoch, transaction: BigInt(to), id: BigInt(toId ?? 0) };
    try {
      const page = await this.#options.feed.read(from, maxChanges);
      const changes = first(page.text.changes, known);
      const isWhole = changes.length === page.text.changes.length;
      const last = changes.at(-1);
      const after = isWhole || !last ? page.next : parseCursor(last.cursor);
      const end = known ?? (changes.length === 0 ? laterOf(page.next, feedEnd) : after);
      if (changes.length === 0) return { id: '', body: '', to: end };
      const parts = [row.name, row.created_at, row.replays, formatCursor(from), formatCursor(end)];
      const hash = createHash('sha256').update(parts.join('\n')).digest('base64url');
      const data = changes.map(({ type, plant }) => `{"type":"${type}","plant":${plant}}`);
      const body = bodyOf('plants.changed', `{"changes":[${data}]}`);
      return { id: row.message_id ?? `msg_${hash}`, body, to: end };
    } catch (error) {
      if (!(error instanceof PlantStoreError) || error.kind !== 'cursorExpired') throw error;
      // The endpoint must list the plants again, because the feed has forgotten changes.
      const { next } = await this.#options.feed.end();
      return { id: `msg_${randomUUID()}`, body: bodyOf('plants.reset'), to: next };
    }
  }

  /** Runs a statement that returns at most one row. */
  async #write(text: string, values: (string | null)[]): Promise<WebhookRow | undefined> {
    return writeRow(this.#options.database, text, values);
  }

  /** After an error, the claim ends by itself. When this process stops, another instance continues. */
  async #abandon({ name, due_at: claim }: WebhookRow, error: unknown): Promise<void> {
    this.#explain(error);
    if (this.#stopping.signal.aborted)
      await this.#write(releaseWebhook, [name, claim]).catch(() => {});
  }

  /** Emits a warning about an error, unless the last warning had the same text. */
  #explain(error: unknown): void {
    // The server already warns when the database is down. Another instance continues when this one stops.
    const isTold = error instanceof PlantStoreError && isTemporary(error.kind);
    const isDown = isTold && !isStatementError(error);
    const warning = `the webhooks wait: ${rootMessage(error)}`;
    if (isDown || this.#stopping.signal.aborted || warning === this.#lastWarning) return;
    this.#lastWarning = warning;
    this.#options.warn(warning);
  }
}

/** Makes the body of a message, by default without data. */
export function bodyOf(
  type: 'plants.changed' | 'plants.reset' | 'plants.test',
  data = '{}',
): string {
  return `{"type":"${type}","timestamp":"${new Date().toISOString()}","data":${data}}`;
}

/** Returns the first changes, as many as fit into a message, or the changes up to a position. */
function first(changes: readonly ChangeText[], to: Cursor | undefined): readonly ChangeText[] {
  if (to) return changes.filter(({ cursor }) => !isBehind(parseCursor(cursor), to));
  let bytes = 0;
  const tooMany = changes.findIndex(({ plant }, i) => {
    bytes += Buffer.byteLength(plant) + 30;
    return i > 0 && bytes > maxBytes;
  });
  return tooMany < 0 ? changes : changes.slice(0, tooMany);
}

function laterOf(one: Cursor, other: Cursor): Cursor {
  return one.epoch === other.epoch && isBehind(one, other) ? one : other;
}
