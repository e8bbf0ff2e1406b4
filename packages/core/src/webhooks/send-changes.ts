import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { type Cursor, formatCursor, parseCursor } from '../changes/cursor.ts';
import type { OpenPlantFeed } from '../changes/plant-feed.ts';
import { diagnostics } from '../database/diagnostics.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { webhooks } from '../tables/tables.ts';
import type { WebhookMessage } from '../tables/webhook-values.ts';
import type { AllowedTargets } from './addresses.ts';
import { bodyOf, type MessageType, maxChanges, takeChanges } from './next-message.ts';
import { post } from './post.ts';
import { type createSecretBox, sign } from './secrets.ts';
import type { HeldWebhook, WebhookChange } from './webhook-table.ts';
import { asJson, atOnce, inSeconds, maxWait, now, withAttempt } from './webhook-table.ts';

/** The seconds before each retry. The actual delay is longer by a random time of up to 10%. */
export const retryDelays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The seconds between two writes of the cursor while the filter drops all changes. */
const saveInterval = 10;

/** The maximum number of changes in one read when the filter may drop changes. */
const maxRead = 1_000;

/** The options that the requests to all endpoints share. */
export interface Sending {
  readonly feed: Pick<OpenPlantFeed, 'read' | 'pageAfter' | 'isAtEnd'>;
  readonly secrets: ReturnType<typeof createSecretBox>;
  readonly allowed: AllowedTargets;
  readonly delays: readonly number[];
  warn(message: string): void;
}

interface Options extends Sending {
  readonly signal: AbortSignal;
  /** Whether the lease of this instance may still be valid. */
  isHeld(): boolean;
  /** See `WebhookTable.advance`. */
  advance(row: HeldWebhook, set: WebhookChange): Promise<HeldWebhook | undefined>;
}

/**
 * Sends all changes to an endpoint, one request at a time. Stops when the next attempt is more than `maxWait`
 * seconds away, or when this instance no longer has the lease of the endpoint.
 */
export async function sendChanges(held: HeldWebhook, options: Options): Promise<void> {
  const { feed, signal, isHeld, advance, delays, warn } = options;
  let row: HeldWebhook | undefined = held;
  while (row && row.wait <= maxWait) {
    signal.throwIfAborted();
    if (row.wait > 0) await setTimeout(row.wait * 1_000, undefined, { signal });
    // Earlier versions stored messages without a body. The changes of such a message get a new message.
    row = row.message?.body ? await deliver(row, row.message) : await prepare(row);
  }

  /** Waits for changes, and sends the changes in a new message. */
  async function prepare(ready: HeldWebhook) {
    let cursor = parseCursor(ready.cursor);
    if (ready.behindSince && (await hasAll(cursor))) return advance(ready, { behindSince: null });
    const limit = ready.tag === null && ready.changeType === null ? maxChanges : maxRead;
    // With a tag, a create may also stand for a deletion: see `changeForTag`.
    const only = ready.tag === null ? (ready.changeType ?? undefined) : undefined;
    const wanted = { signal, only };
    const saveAt = performance.now() + saveInterval * 1_000;
    for (;;) {
      const page = await feed.pageAfter(cursor, limit, wanted).catch(undefinedIfExpired);
      if (!page) return expire(ready);
      const { changes, next } = takeChanges(page, ready);
      if (changes.length > 0) {
        return begin({ ...ready, cursor: formatCursor(cursor) }, 'plants.changed', next, changes);
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

  /** Tells the endpoint to list the plants again, because the feed has forgotten changes after the cursor. */
  async function expire(expired: HeldWebhook) {
    const { next } = await feed.read(undefined, 1);
    return begin(expired, 'plants.reset', next, []);
  }

  /** Stores a new message before the first attempt, so that every attempt sends the same body and id. */
  async function begin(ready: HeldWebhook, type: MessageType, end: Cursor, changes: string[]) {
    const body = bodyOf(type, changes);
    const message = { id: `msg_${randomUUID()}`, to: formatCursor(end), body };
    const behindSince = sql`coalesce(${webhooks.behindSince}, ${now})`;
    const set = { cursor: ready.cursor, message: asJson(message), behindSince, ...atOnce };
    const begun = await advance(ready, set);
    return begun && deliver(begun, message);
  }

  async function deliver(ready: HeldWebhook, { id, to, body }: WebhookMessage) {
    // Without the lease, send nothing: another instance may already have sent later changes.
    if (!isHeld()) return undefined;
    const { retryAfter = 0, ...attempt } = await postTo(ready, id, body, options);
    const attempts = withAttempt(attempt);
    if (attempt.error === undefined) {
      const isAtEnd = feed.isAtEnd(parseCursor(to));
      const accepted = { ...atOnce, cursor: to, message: null, attempts };
      return advance(ready, isAtEnd ? { ...accepted, behindSince: null } : accepted);
    }
    const failures = ready.failures + 1;
    const delay = delays[ready.failures];
    if (attempt.status !== 410 && delay !== undefined) {
      const seconds = Math.max(retryAfter, delay * (1 + Math.random() / 10));
      return advance(ready, { failures, attempts, nextAttemptAt: inSeconds(seconds) });
    }
    const pausedBecause =
      attempt.status === 410 ? 'the endpoint is gone (status 410)' : `${failures} attempts failed`;
    if (await advance(ready, { failures, attempts, pausedAt: now, pausedBecause })) {
      warn(
        `the webhook ${JSON.stringify(ready.name)} is paused, because ${pausedBecause}: ` +
          'plant-store-server webhook show has the errors, and webhook resume continues',
      );
    }
    return undefined;
  }
}

/** Sends a signed body to an endpoint. For a day after a rotation, the old secret also signs the body. */
export async function postTo(
  { name, url, secret, oldSecret, isOldSecretValid }: Omit<HeldWebhook, 'wait'>,
  id: string,
  body: string,
  { secrets, ...options }: Pick<Sending, 'secrets' | 'allowed'> & { signal?: AbortSignal },
) {
  const stored = oldSecret && isOldSecretValid ? [secret, oldSecret] : [secret];
  const open = () => stored.map((each) => secrets.open(name, each));
  const at = new Date().toISOString();
  const send = () => post(url, body, () => sign(open(), id, body), options);
  return { at, id, ...(await diagnostics.attempt.tracePromise(send, { url })) };
}

function undefinedIfExpired(error: unknown): undefined {
  if (!(error instanceof PlantStoreError) || error.kind !== 'cursorExpired') throw error;
}
