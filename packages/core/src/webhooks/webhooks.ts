import { randomBytes, randomUUID } from 'node:crypto';
import {
  type CreatedWebhook,
  defaultPageSize,
  type ListWebhooks,
  NewWebhook,
  type ReplayWebhook,
  type Webhook,
  type WebhookAttempt,
  type WebhookPage,
} from '@plant-store/schemas';
import { type Cursor, formatCursor, parseCursor } from '../changes/cursor.ts';
import type { Feed } from '../changes/feed.ts';
import type { Database } from '../database/database.ts';
import {
  check,
  databaseCode,
  invalidInput,
  PlantStoreError,
  rootMessage,
} from '../plant-store-error.ts';
import { explainUrl, findAddresses, parseAllowed } from './addresses.ts';
import { post } from './post.ts';
import { createSender, messageBody, retryDelays } from './sender.ts';
import * as sql from './statements.ts';
import {
  cursorValues,
  positionOf,
  type WebhookRow,
  webhookRows,
  writeWebhook,
} from './statements.ts';

export interface WebhookSettings {
  /** Private hosts and networks to which the store may connect, even over http. See `isWebhookTarget`. */
  readonly allow?: readonly string[] | undefined;
  /** The number of seconds before each retry. */
  readonly retryDelays?: readonly number[] | undefined;
}

/** The webhooks, which send changes to endpoints by HTTP, as Standard Webhooks 1.0 defines. */
export interface Webhooks {
  /**
   * Creates a webhook. Only this call returns the secret.
   *
   * @throws PlantStoreError `webhookNameTaken`; `invalidInput` when the URL is not allowed or the cursor is not
   *   valid; `cursorExpired`; `notImplemented` when the database has no feed
   */
  create(webhook: NewWebhook): Promise<CreatedWebhook>;
  /** Returns a page of webhooks in ascending order of name. */
  list(page?: Partial<ListWebhooks>): Promise<WebhookPage>;
  /**
   * Returns a webhook and its last attempt.
   *
   * @throws PlantStoreError `webhookUnknown` when no webhook has the name. All methods that get a `name` throw this error.
   */
  get(name: string): Promise<Webhook>;
  /** Stops the messages, or continues with the first change that the endpoint has not accepted. */
  setPaused(name: string, isPaused: boolean): Promise<Webhook>;
  /**
   * Sends changes again: the changes after a cursor, or since a time.
   *
   * @throws PlantStoreError `invalidInput` or `cursorExpired`
   */
  replay(name: string, from: Omit<ReplayWebhook, 'name'>): Promise<void>;
  /** Returns a new secret. Only a message that is already on its way may have a signature by the old secret. */
  rotateSecret(name: string): Promise<string>;
  /** Sends a message of the type `plants.test` now. */
  test(name: string): Promise<WebhookAttempt>;
  /** Deletes a webhook. */
  delete(name: string): Promise<void>;
  /** Sends changes from this process until the store closes. */
  send(): void;
  /** The number of webhooks whose state is `failing`, or that an instance has paused. */
  failing(): Promise<number>;
}

export function createWebhooks(
  database: Pick<Database, 'read' | 'write'>,
  feed: Feed,
  warn: (message: string) => void,
  { allow = [], retryDelays: delays = retryDelays }: WebhookSettings = {},
): Webhooks & { stop(): Promise<void> } {
  const allowed = parseAllowed(allow);
  const sender = createSender({ database, feed, allowed, delays, warn });

  return {
    async create(webhook) {
      const { url, name = hostOf(url), from } = check(NewWebhook, webhook);
      const fault = explainUrl(url, allowed);
      if (fault !== undefined) throw invalidInput(`url ${fault}`);
      // Only messages need the address, so `create` ignores an error of DNS.
      await findAddresses(new URL(url), allowed).catch((error) => {
        if (databaseCode(error) === undefined) throw invalidInput(rootMessage(error));
      });
      const cursor = from === undefined ? (await feed.readEnd()).end : await checked(from, 'from');
      const secret = createSecret();
      const row = await change(sql.insertWebhook, [name, url, secret, ...cursorValues(cursor)]);
      if (!row) throw nameTaken(name);
      return { ...toWebhook(row), secret };
    },

    async list({ after = '', limit = defaultPageSize } = {}) {
      const values = [after, String(limit + 1)];
      const { rows } = await database.read<[string]>(sql.listWebhooks, values, { kind: 'reads' });
      const all = webhookRows(rows).map(toWebhook);
      const webhooks = all.slice(0, limit);
      const next = all.length > limit ? webhooks.at(-1)?.name : undefined;
      return { webhooks, ...(next !== undefined && { next }) };
    },

    get: async (name) => toWebhook(await find(name)),
    setPaused: async (name, isPaused) =>
      toWebhook(known(name, await change(isPaused ? sql.pauseWebhook : sql.resumeWebhook, [name]))),

    async replay(name, { after, since }) {
      await find(name);
      const cursor = since ? await feed.cursorBefore(since) : await checked(after ?? '', 'after');
      known(name, await change(sql.replayWebhook, [name, ...cursorValues(cursor)]));
    },

    async rotateSecret(name) {
      const secret = createSecret();
      known(name, await change(sql.rotateSecret, [name, secret]));
      return secret;
    },

    async test(name) {
      const { url, secret } = await find(name);
      const message = { id: `msg_${randomUUID()}`, body: messageBody('plants.test'), secret };
      return post(url, message, { allowed });
    },

    async delete(name) {
      known(name, await change(sql.deleteWebhook, [name]));
    },

    send: () => sender.start(),

    async failing() {
      const { rows } = await database.read(sql.countFailing, [], { kind: 'reads' });
      return Number(rows[0]?.[0]);
    },

    stop: () => sender.stop(),
  };

  async function find(name: string): Promise<WebhookRow> {
    const { rows } = await database.read<[string]>(sql.findWebhook, [name], { kind: 'reads' });
    return known(name, webhookRows(rows)[0]);
  }

  /** Runs a statement that changes a webhook. The sender then looks for webhooks that are due. */
  function change(text: string, values: string[]): Promise<WebhookRow | undefined> {
    return writeWebhook(database, text, values).finally(() => sender.notice());
  }

  /** Parses a cursor, and checks that the feed still has the changes after the cursor. */
  async function checked(text: string, name: string): Promise<Cursor> {
    const cursor = parseCursor(text, name);
    await feed.read(cursor, 1);
    return cursor;
  }
}

const hostOf = (url: string) => new URL(url).hostname.slice(0, 100);

function createSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Describes a webhook without its secret. */
function toWebhook(row: WebhookRow): Webhook {
  const { name, url, paused_at, paused_because, last_attempt, failures } = row;
  const state = paused_at !== null ? 'paused' : failures > 0 ? 'failing' : 'active';
  return {
    name,
    url,
    state,
    createdAt: new Date(row.created_at),
    cursor: formatCursor(positionOf(row)),
    ...(paused_because !== null && { pausedBecause: paused_because }),
    ...(state === 'failing' && { nextAttemptAt: new Date(row.due_at) }),
    ...(last_attempt && { lastAttempt: { ...last_attempt, at: new Date(last_attempt.at) } }),
  };
}

/** @throws PlantStoreError `webhookUnknown` */
function known(name: string, row: WebhookRow | undefined): WebhookRow {
  if (row) return row;
  const message = `no webhook has the name ${JSON.stringify(name)}: list the webhooks`;
  throw new PlantStoreError('webhookUnknown', message);
}

function nameTaken(name: string): PlantStoreError {
  const message = `the name ${JSON.stringify(name)} belongs to another webhook: choose another name`;
  return new PlantStoreError('webhookNameTaken', message);
}
