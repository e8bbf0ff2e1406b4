import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { type Cursor, formatCursor, isUpTo, parseCursor } from '../changes/cursor.ts';
import type { OpenPlantFeed } from '../changes/plant-feed.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { webhooks } from '../tables/tables.ts';
import type { WebhookMessage } from '../tables/webhook-values.ts';
import type { AllowedTargets } from './addresses.ts';
import { bodyOf, changesUpTo, maxChanges, takeChanges } from './next-message.ts';
import { type PostOutcome, post } from './post.ts';
import { type SecretBox, sign } from './secrets.ts';
import type { HeldWebhook, WebhookChange } from './webhook-table.ts';
import { asJson, atOnce, inSeconds, now, withAttempt } from './webhook-table.ts';

/** The seconds before each retry. A random delay of up to 10% is added. */
export const retryDelays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The seconds between two writes of the cursor while the filter drops all changes. */
const saveInterval = 10;

/** The maximum number of changes in one read when the filter may drop changes. */
const maxRead = 1_000;

/** `sendChanges` waits at most this many seconds. `WebhookSender` calls `sendChanges` for a later attempt. */
export const maxWait = 2;

/** The options that the requests to all endpoints share. */
export interface Sending {
  readonly feed: Pick<OpenPlantFeed, 'read' | 'pageAfter' | 'isAtEnd'>;
  readonly secrets: SecretBox;
  readonly allowed: AllowedTargets;
  readonly delays: readonly number[];
  warn(message: string): void;
}

interface Options extends Sending {
  readonly signal: AbortSignal;
  /** See `WebhookTable.advance`. */
  advance(row: HeldWebhook, set: WebhookChange): Promise<HeldWebhook | undefined>;
}

/**
 * Sends all changes to an endpoint, one request at a time. Returns when the next attempt is more than
 * `maxWait` seconds away, or when this instance no longer holds the endpoint.
 */
export async function sendChanges(held: HeldWebhook, options: Options): Promise<void> {
  const { feed, signal, advance, delays, warn } = options;
  let row: HeldWebhook | undefined = held;
  let prepared: string[] | undefined;
  while (row) {
    signal.throwIfAborted();
    const { message } = row;
    if (!message) {
      if (row.behindSince && (await hasAll(row))) row = await advance(row, { behindSince: null });
      else [row, prepared] = await prepare(row);
      continue;
    }
    if (row.wait > maxWait) return;
    if (row.wait > 0) await setTimeout(row.wait * 1_000, undefined, { signal });
    const changes = prepared ?? (await readAgain(row, message));
    prepared = undefined;
    if (!changes) row = await expire(row);
    // All plants of the message have been deleted. A later message has the deletions.
    else if (message.type === 'plants.changed' && changes.length === 0) row = await accept(row);
    else row = await attempt(row, message, changes);
  }

  async function hasAll(ready: HeldWebhook): Promise<boolean> {
    const cursor = parseCursor(ready.cursor);
    const isAtEnd = feed.isAtEnd(cursor);
    if (isAtEnd !== undefined) return isAtEnd;
    return (await feed.read(cursor, 1).catch(undefinedIfExpired))?.changes.length === 0;
  }

  /** Waits for changes, and stores a new message's first and last cursor before the first attempt. */
  async function prepare(
    ready: HeldWebhook,
  ): Promise<[HeldWebhook | undefined, string[] | undefined]> {
    const limit = ready.tag === null && ready.changeType === null ? maxChanges : maxRead;
    let cursor = parseCursor(ready.cursor);
    let savedAt = performance.now();
    for (;;) {
      const page = await feed.pageAfter(cursor, limit, { signal }).catch(undefinedIfExpired);
      if (!page) return [await expire(ready), undefined];
      const { changes, next } = takeChanges(page, ready);
      if (changes.length > 0) {
        const message = messageTo('plants.changed', formatCursor(next));
        const behindSince = sql`coalesce(${webhooks.behindSince}, ${now})`;
        const start = { cursor: formatCursor(cursor), message: asJson(message), behindSince };
        return [await advance(ready, { ...start, ...atOnce }), changes];
      }
      cursor = next;
      const isSaved = performance.now() - savedAt < saveInterval * 1_000;
      if (isSaved && !(ready.behindSince && feed.isAtEnd(next))) continue;
      const moved = await advance(ready, movedTo(next));
      if (!moved) return [undefined, undefined];
      ready = moved;
      savedAt = performance.now();
    }
  }

  /** Reads the changes of a stored message. Returns undefined when the feed no longer has these changes. */
  async function readAgain({ cursor, ...filter }: HeldWebhook, { type, to }: WebhookMessage) {
    if (type === 'plants.reset') return [];
    const changes: string[] = [];
    const end = parseCursor(to);
    let after = parseCursor(cursor);
    for (;;) {
      const page = await feed.read(after, maxRead).catch(undefinedIfExpired);
      if (!page) return undefined;
      changes.push(...changesUpTo(end, page, filter));
      after = page.next;
      if (!page.hasMore || isUpTo(end, after)) return changes;
    }
  }

  /** Tells the endpoint to list the plants again, because the feed no longer has the next changes. */
  async function expire(expired: HeldWebhook): Promise<HeldWebhook | undefined> {
    const end = await feed.read(undefined, 1);
    const message = messageTo('plants.reset', formatCursor(end.next));
    const behindSince = sql`coalesce(${webhooks.behindSince}, ${now})`;
    return advance(expired, { message: asJson(message), behindSince, ...atOnce });
  }

  async function attempt(ready: HeldWebhook, message: WebhookMessage, changes: string[]) {
    const at = new Date().toISOString();
    const body = bodyOf(message, changes);
    const { retryAfter = 0, ...outcome } = await postTo(ready, message.id, body, options);
    const attempts = withAttempt({ at, id: message.id, ...outcome });
    if (outcome.error === undefined) return accept(ready, { attempts });
    const failures = ready.failures + 1;
    const delay = delays[ready.failures];
    if (outcome.status !== 410 && delay !== undefined) {
      const seconds = Math.max(retryAfter, delay * (1 + Math.random() / 10));
      return advance(ready, { failures, attempts, nextAttemptAt: inSeconds(seconds) });
    }
    const pausedBecause =
      outcome.status === 410 ? 'the endpoint is gone (status 410)' : `${failures} attempts failed`;
    if (await advance(ready, { failures, attempts, pausedAt: now, pausedBecause })) {
      warn(
        `the webhook ${JSON.stringify(ready.name)} is paused, because ${pausedBecause}: ` +
          'plant-store webhook show has the errors, and webhook resume continues',
      );
    }
    return undefined;
  }

  /** Removes the message, and moves the cursor to the end of the message. */
  function accept(ready: HeldWebhook, more: WebhookChange = {}) {
    const to = parseCursor(ready.message?.to ?? ready.cursor);
    return advance(ready, { ...movedTo(to), message: null, ...atOnce, ...more });
  }

  function movedTo(cursor: Cursor): WebhookChange {
    return { cursor: formatCursor(cursor), ...(feed.isAtEnd(cursor) && { behindSince: null }) };
  }
}

/** Sends a signed body to an endpoint. For a day after a rotation, the old secret also signs the body. */
export async function postTo(
  { name, url, secret, oldSecret, isOldSecretValid }: Omit<HeldWebhook, 'wait'>,
  id: string,
  body: string,
  options: Pick<Sending, 'secrets' | 'allowed'> & { signal?: AbortSignal },
): Promise<PostOutcome> {
  let headers: Record<string, string>;
  try {
    const stored = [secret, ...(oldSecret && isOldSecretValid ? [oldSecret] : [])];
    headers = sign(
      stored.map((each) => options.secrets.open(name, each)),
      id,
      body,
    );
  } catch (error) {
    return { milliseconds: 0, error: error instanceof Error ? error.message : String(error) };
  }
  return post(url, body, headers, options);
}

function messageTo(type: WebhookMessage['type'], to: string): WebhookMessage {
  return { id: `msg_${randomUUID()}`, type, timestamp: new Date().toISOString(), to };
}

function undefinedIfExpired(error: unknown): undefined {
  if (!(error instanceof PlantStoreError) || error.kind !== 'cursorExpired') throw error;
}
