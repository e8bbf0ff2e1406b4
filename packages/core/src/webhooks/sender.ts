import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { isTemporary, maxPageSize } from '@plant-store/schemas';
import { type Cursor, isAfter } from '../changes/cursor.ts';
import type { Feed } from '../changes/feed.ts';
import { type ChangeText, changeJson } from '../changes/read-changes.ts';
import type { Database } from '../database/database.ts';
import { outcomeOf } from '../database/errors.ts';
import { PlantStoreError, rootMessage } from '../plant-store-error.ts';
import type { AllowedTargets } from './addresses.ts';
import { post } from './post.ts';
import * as sql from './statements.ts';
import { cursorValues, positionOf, type WebhookRow, writeWebhook } from './statements.ts';

/** The seconds before each retry, about three days in total. Each delay is up to 10% longer, at random. */
export const retryDelays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The maximum number of webhooks to which an instance sends at the same time. */
const maxRunning = 20;

/** The maximum number of changes and of bytes in a message. A single change may be larger. */
const maxChanges = 100;
const maxBytes = 20_000;

/** The maximum number of milliseconds between two searches for due webhooks. */
const lookInterval = 2_000;

/**
 * Sends changes to the webhooks of the store. An instance claims a webhook, reads the changes after the
 * webhook's position, sends these changes, and saves the new position. An instance that crashes meanwhile loses
 * its claim after a minute, and another instance sends the same message.
 */
export function createSender({
  database,
  feed,
  allowed,
  delays,
  warn,
}: {
  database: Pick<Database, 'read' | 'write'>;
  feed: Feed;
  allowed: AllowedTargets;
  delays: readonly number[];
  warn: (message: string) => void;
}) {
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  /** An abort makes the loop look for webhooks immediately. */
  let wait = new AbortController();
  let loop: Promise<void> | undefined;
  let lastWarning = '';
  const write = (text: string, values: (string | null)[]) => writeWebhook(database, text, values);
  const notice = () => wait.abort();

  return {
    start() {
      loop ??= run();
    },
    /** Call this function after each write of a webhook. */
    notice,
    /** Ends all requests. Another instance repeats the messages of these requests. */
    async stop() {
      stopping.abort();
      notice();
      await loop;
      await Promise.all(running);
    },
  };

  /** Looks for due webhooks after each change of a plant, each write of a webhook, and `lookInterval`. */
  async function run(): Promise<void> {
    let end: Cursor | undefined;
    while (!stopping.signal.aborted) {
      wait = new AbortController();
      const signal = AbortSignal.any([wait.signal, AbortSignal.timeout(lookInterval)]);
      try {
        const { rows } = await database.read(sql.hasActiveWebhook, [], { kind: 'reads' });
        if (rows.length > 0) {
          end ??= (await feed.readEnd()).end;
          await claimAll(end);
          end = (await feed.waitForChanges(end, maxPageSize, { signal })).end;
          continue;
        }
      } catch (error) {
        if (signal.aborted) continue;
        explain(error);
      }
      // No webhook is active, the database is down, or the feed has a new epoch.
      end = undefined;
      if (!signal.aborted) await once(signal, 'abort');
    }
  }

  /** Sends a message to each due webhook. */
  async function claimAll(end: Cursor): Promise<void> {
    while (running.size < maxRunning) {
      const row = await write(sql.claimWebhook, cursorValues(end));
      if (!row) return;
      const sending = send(row, end)
        .catch((error) => abandon(row, error))
        .finally(() => {
          running.delete(sending);
          notice();
        });
      running.add(sending);
    }
  }

  /** Sends the next message of a webhook that this instance has claimed, and saves the outcome. */
  async function send(row: WebhookRow, end: Cursor): Promise<void> {
    const { url, secret } = row;
    const claim = [row.name, row.due_at];
    const { id, body, to } = await nextMessage(row, end);
    const save = (attempt: string | null) =>
      write(sql.savePosition, [...claim, ...cursorValues(to), attempt]);
    if (body === undefined) return void (await save(null));
    const isBegun = id === row.message_id;
    const message = [id, String(to.transaction), String(to.id)];
    if (!isBegun && !(await write(sql.beginMessage, [...claim, ...message]))) return;
    const { signal } = stopping;
    const attempt = await post(url, { id, body, secret }, { allowed, signal });
    if (attempt.error === undefined) return void (await save(JSON.stringify(attempt)));
    const delay = delays[row.failures];
    const isGone = attempt.status === 410;
    const failed = `${row.failures + 1} attempts failed`;
    const why = isGone ? 'the endpoint is gone (status 410)' : delay === undefined ? failed : null;
    const seconds = (delay ?? 0) * (1 + Math.random() / 10);
    await write(sql.saveFailure, [...claim, String(seconds), why, JSON.stringify(attempt)]);
    if (why !== null) {
      const advice = 'plant-store webhook show names the last error, and webhook resume continues';
      const name = JSON.stringify(row.name);
      warn(`the webhook ${name} is paused, because ${why}: ${advice}`);
    }
  }

  /**
   * Makes the next message, or the message that must be repeated. `to` is the position that the webhook
   * reaches with the message. Without changes, the message has no body.
   */
  async function nextMessage(
    row: WebhookRow,
    feedEnd: Cursor,
  ): Promise<{ id: string; body?: string; to: Cursor }> {
    const id = `msg_${randomUUID()}`;
    try {
      const page = await feed.read(positionOf(row), maxChanges);
      if (page.changes.length === 0) {
        return { id, to: isAfter(feedEnd, page.end) ? feedEnd : page.end };
      }
      const begun = row.message_id !== null && {
        ...page.end,
        transaction: BigInt(row.to_transaction ?? 0),
        id: BigInt(row.to_id ?? 0),
      };
      const changes = firstThatFit(
        page.changes.filter(({ position }) => !begun || !isAfter(position, begun)),
      );
      const last = changes.at(-1)?.position;
      // When no change is left, each plant of the message has a newer change.
      if (!last) return { id, to: begun || page.end };
      // `begun` may be after this page, because the instance of the first attempt may have read a longer page.
      const isWhole = changes.length === page.changes.length;
      const to = isWhole ? page.end : { ...page.end, ...last };
      const body = messageBody('plants.changed', `{"changes":[${changes.map(changeJson)}]}`);
      return { id: row.message_id ?? id, body, to };
    } catch (error) {
      if (!(error instanceof PlantStoreError) || error.kind !== 'cursorExpired') throw error;
      // The endpoint must list the plants again, because the feed no longer has all changes.
      return { id, body: messageBody('plants.reset'), to: (await feed.readEnd()).end };
    }
  }

  /** Reports an error. The claim then ends by itself, or immediately when this process stops. */
  async function abandon({ name, due_at: claim }: WebhookRow, error: unknown): Promise<void> {
    explain(error);
    if (stopping.signal.aborted) await write(sql.releaseWebhook, [name, claim]).catch(() => {});
  }

  /** Emits a warning about an error, unless the operator already knows the error or need not know it. */
  function explain(error: unknown): void {
    // The server already warns when the database is down. Another instance continues when this one stops.
    const { kind, code = 0 } = error instanceof PlantStoreError ? error : {};
    const isDown = isTemporary(code) && outcomeOf(error) !== 'rolledBack';
    const warning = `the webhooks wait: ${rootMessage(error)}`;
    const isTold = isDown || kind === 'cursorExpired' || warning === lastWarning;
    if (isTold || stopping.signal.aborted) return;
    lastWarning = warning;
    warn(warning);
  }
}

/** Makes the body of a message, by default without data. */
export function messageBody(
  type: 'plants.changed' | 'plants.reset' | 'plants.test',
  data = '{}',
): string {
  return `{"type":"${type}","timestamp":"${new Date().toISOString()}","data":${data}}`;
}

/** Returns the first changes that fit into one message. */
function firstThatFit(changes: readonly ChangeText[]): readonly ChangeText[] {
  let bytes = 0;
  const tooMany = changes.findIndex(({ plant }, i) => {
    bytes += Buffer.byteLength(plant) + 30;
    return i > 0 && bytes > maxBytes;
  });
  return tooMany < 0 ? changes : changes.slice(0, tooMany);
}
