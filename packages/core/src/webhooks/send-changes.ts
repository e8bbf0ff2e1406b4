import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { type Cursor, formatCursor, isBehind, parseCursor } from '../changes/cursor.ts';
import type { OpenPlantFeed } from '../changes/plant-feed.ts';
import { diagnostics } from '../database/diagnostics.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { webhooks } from '../tables/tables.ts';
import type { WebhookMessage } from '../tables/webhook-values.ts';
import type { AllowedTargets } from './addresses.ts';
import { bodyOf, changesUpTo, maxChanges, takeChanges } from './next-message.ts';
import { type PostOutcome, post } from './post.ts';
import { type SecretBox, sign } from './secrets.ts';
import type { HeldWebhook, WebhookChange } from './webhook-table.ts';
import { asJson, atOnce, inSeconds, now, withAttempt } from './webhook-table.ts';

/** The seconds before each retry. The delay is up to 10% longer, by a random time. */
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
  /** The changes of the message that `prepare` has just stored. */
  let prepared: string[] | undefined;
  let row: HeldWebhook | undefined = held;
  while (row && row.wait <= maxWait) {
    signal.throwIfAborted();
    row = row.message ? await deliver(row, row.message) : await prepare(row);
  }

  /** Waits for changes, and stores the id and the ends of a new message before the first attempt. */
  async function prepare(ready: HeldWebhook) {
    let cursor = parseCursor(ready.cursor);
    if (ready.behindSince && (await hasAll(cursor))) return advance(ready, { behindSince: null });
    const limit = ready.tag === null && ready.changeType === null ? maxChanges : maxRead;
    const saveAt = performance.now() + saveInterval * 1_000;
    for (;;) {
      const page = await feed.pageAfter(cursor, limit, { signal }).catch(undefinedIfExpired);
      if (!page) return expire(ready);
      const { changes, next } = takeChanges(page, ready);
      if (changes.length > 0) {
        prepared = changes;
        return begin(ready, 'plants.changed', formatCursor(cursor), next);
      }
      cursor = next;
      if (ready.behindSince || performance.now() > saveAt) {
        return advance(ready, { cursor: formatCursor(cursor) });
      }
    }
  }

  async function hasAll(cursor: Cursor): Promise<boolean> {
    const isAtEnd = feed.isAtEnd(cursor);
    if (isAtEnd !== undefined) return isAtEnd;
    return (await feed.read(cursor, 1).catch(undefinedIfExpired))?.changes.length === 0;
  }

  /** Tells the endpoint to list the plants again, because the feed no longer has the next changes. */
  async function expire(expired: HeldWebhook) {
    const { next } = await feed.read(undefined, 1);
    return begin(expired, 'plants.reset', expired.cursor, next);
  }

  function begin(ready: HeldWebhook, type: WebhookMessage['type'], cursor: string, end: Cursor) {
    const timestamp = new Date().toISOString();
    const message = { id: `msg_${randomUUID()}`, type, timestamp, to: formatCursor(end) };
    const behindSince = sql`coalesce(${webhooks.behindSince}, ${now})`;
    return advance(ready, { cursor, message: asJson(message), behindSince, ...atOnce });
  }

  async function deliver(ready: HeldWebhook, message: WebhookMessage) {
    if (ready.wait > 0) await setTimeout(ready.wait * 1_000, undefined, { signal });
    const changes = prepared ?? (await readAgain(ready, message));
    prepared = undefined;
    if (!changes) return expire(ready);
    const accepted = {
      ...atOnce,
      cursor: message.to,
      message: null,
      ...(feed.isAtEnd(parseCursor(message.to)) && { behindSince: null }),
    };
    // When all plants of the message are deleted, a later message has the deletions.
    if (message.type === 'plants.changed' && changes.length === 0) return advance(ready, accepted);
    const at = new Date().toISOString();
    const body = bodyOf(message, changes);
    const { retryAfter = 0, ...outcome } = await postTo(ready, message.id, body, options);
    const attempts = withAttempt({ at, id: message.id, ...outcome });
    if (outcome.error === undefined) return advance(ready, { ...accepted, attempts });
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
      if (!page.hasMore || !isBehind(end, after)) return changes;
    }
  }
}

/** Sends a signed body to an endpoint. For a day after a rotation, the old secret also signs the body. */
export async function postTo(
  { name, url, secret, oldSecret, isOldSecretValid }: Omit<HeldWebhook, 'wait'>,
  id: string,
  body: string,
  options: Pick<Sending, 'secrets' | 'allowed'> & { signal?: AbortSignal },
): Promise<PostOutcome> {
  const stored = [secret, ...(oldSecret && isOldSecretValid ? [oldSecret] : [])];
  try {
    const secrets = stored.map((each) => options.secrets.open(name, each));
    const send = () => post(url, body, sign(secrets, id, body), options);
    return await (diagnostics.attempt.start.hasSubscribers
      ? diagnostics.attempt.tracePromise(send, { url })
      : send());
  } catch (error) {
    options.signal?.throwIfAborted();
    return { milliseconds: 0, error: error instanceof Error ? error.message : String(error) };
  }
}

function undefinedIfExpired(error: unknown): undefined {
  if (!(error instanceof PlantStoreError) || error.kind !== 'cursorExpired') throw error;
}
