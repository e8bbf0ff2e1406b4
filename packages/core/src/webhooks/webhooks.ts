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
import { databaseCode, invalidInput, PlantStoreError, rootMessage } from '../plant-store-error.ts';
import { explainUrl, findAddresses, parseAllowed } from './addresses.ts';
import { post } from './post.ts';
import { readRow, type WebhookRow, writeRow } from './rows.ts';
import { bodyOf, retryDelays, WebhookSender } from './sender.ts';
import {
  countFailing,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  pauseWebhook,
  replayWebhook,
  resumeWebhook,
  rotateSecret,
} from './statements.ts';

export interface WebhookSettings {
  /** Private hosts and networks to which the store may connect, even over http. See `isWebhookTarget`. */
  readonly allow?: readonly string[] | undefined;
  /** The seconds before each retry. */
  readonly retryDelays?: readonly number[] | undefined;
}

/** The endpoints that receive changes by HTTP, as Standard Webhooks 1.0 defines. */
export interface Webhooks {
  /**
   * Creates an endpoint. Only this call returns the secret.
   *
   * @throws PlantStoreError `webhookNameTaken`; `invalidInput` when the URL is not allowed or the cursor is not
   *   valid; `cursorExpired`; `notImplemented` when the database has no feed
   */
  create(webhook: NewWebhook): Promise<CreatedWebhook>;
  list(page?: Partial<ListWebhooks>): Promise<WebhookPage>;
  /** Each of the following methods throws the PlantStoreError `webhookUnknown` when no endpoint has the name. */
  get(name: string): Promise<Webhook>;
  /** Resuming sends the first change that the endpoint has not accepted, immediately. */
  setPaused(name: string, isPaused: boolean): Promise<Webhook>;
  /** Sends the changes after a cursor, or since a time, again. Throws the same errors as `create`. */
  replay(name: string, from: Omit<ReplayWebhook, 'name'>): Promise<void>;
  /** Returns a new secret. The old secret signs no further message. */
  rotateSecret(name: string): Promise<string>;
  /** Sends a message of the type `plants.test` now. */
  test(name: string): Promise<WebhookAttempt>;
  delete(name: string): Promise<void>;
  /** Sends changes from this process until the store closes. */
  send(): void;
  /** The number of endpoints whose last attempt failed, or that an instance has paused. */
  failing(): Promise<number>;
}

export function createWebhooks(
  database: Pick<Database, 'read' | 'write'>,
  feed: Feed,
  warn: (message: string) => void,
  { allow = [], retryDelays: delays = retryDelays }: WebhookSettings = {},
): Webhooks & { stop(): Promise<void> } {
  const allowed = parseAllowed(allow);
  const sender = new WebhookSender({ database, feed, allowed, delays, warn });

  return {
    async create(webhook) {
      const { data, error } = NewWebhook.safeParse(webhook);
      if (error) throw invalidInput(error);
      const { url, name = new URL(url).hostname.slice(0, 100), from } = data;
      const fault = explainUrl(url, allowed);
      if (fault !== undefined) throw invalid(`url ${fault}`);
      // Only messages need the address, so `create` ignores an error of the look-up.
      await findAddresses(new URL(url), allowed).catch((error) => {
        if (databaseCode(error) === undefined) throw invalid(rootMessage(error));
      });
      const cursor = from === undefined ? (await feed.end()).next : await checked(from, 'from');
      const secret = createSecret();
      const row = await change(insertWebhook, [name, url, secret, ...positionOf(cursor)]);
      if (!row) throw nameTaken(name);
      return { ...toWebhook(row), secret };
    },

    async list({ after = '', limit = defaultPageSize } = {}) {
      const values = [after, String(limit + 1)];
      const { rows } = await database.read<[string]>(listWebhooks, values, { kind: 'reads' });
      const all = rows.map(([json]) => toWebhook(readRow(json)));
      const webhooks = all.slice(0, limit);
      const next = all.length > limit ? webhooks.at(-1)?.name : undefined;
      return { webhooks, ...(next !== undefined && { next }) };
    },

    get: async (name) => toWebhook(await find(name)),
    setPaused: async (name, isPaused) =>
      toWebhook(known(name, await change(isPaused ? pauseWebhook : resumeWebhook, [name]))),

    async replay(name, { after, since }) {
      await find(name);
      const cursor = since ? await feed.cursorBefore(since) : await checked(after ?? '', 'after');
      known(name, await change(replayWebhook, [name, ...positionOf(cursor)]));
    },

    async rotateSecret(name) {
      const secret = createSecret();
      known(name, await change(rotateSecret, [name, secret]));
      return secret;
    },

    async test(name) {
      const { url, secret } = await find(name);
      const message = { id: `msg_${randomUUID()}`, body: bodyOf('plants.test'), secret };
      const { retryAfter, ...attempt } = await post(url, message, { allowed });
      return attempt;
    },

    async delete(name) {
      known(name, await change(deleteWebhook, [name]));
    },

    send: () => sender.start(),

    async failing() {
      const { rows } = await database.read(countFailing, [], { kind: 'reads' });
      return Number(rows[0]?.[0]);
    },

    stop: () => sender.stop(),
  };

  async function find(name: string): Promise<WebhookRow> {
    const { rows } = await database.read<[string]>(findWebhook, [name], { kind: 'reads' });
    const [[json] = []] = rows;
    return known(name, json === undefined ? undefined : readRow(json));
  }

  /** Runs a statement that changes an endpoint. The sender then looks for endpoints that are due. */
  function change(text: string, values: string[]): Promise<WebhookRow | undefined> {
    return writeRow(database, text, values).finally(() => sender.notice());
  }

  /** Checks that the feed still has the changes after a cursor. */
  async function checked(text: string, name: string): Promise<Cursor> {
    const cursor = parseCursor(text, name);
    await feed.read(cursor, 1);
    return cursor;
  }
}

function createSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function positionOf({ epoch, transaction, id }: Cursor): [string, string, string] {
  return [epoch, String(transaction), String(id)];
}

/** Describes an endpoint without its secret. */
function toWebhook(row: WebhookRow): Webhook {
  const { name, url, epoch, paused_at, paused_because, last_attempt, failures } = row;
  const cursor = formatCursor({
    epoch,
    transaction: BigInt(row.transaction),
    id: BigInt(row.last_id),
  });
  const state = paused_at !== null ? 'paused' : failures > 0 ? 'failing' : 'active';
  return {
    name,
    url,
    state,
    createdAt: new Date(row.created_at),
    cursor,
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

function invalid(message: string): PlantStoreError {
  return new PlantStoreError('invalidInput', `invalid input: ${message}`);
}
