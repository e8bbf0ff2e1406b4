import { randomInt, randomUUID } from 'node:crypto';
import { Plant, PlantChange } from '@plant-store/schemas';
import { sql } from 'drizzle-orm';
import * as z from 'zod';
import { formatCursor, parseCursor } from '../changes/cursor.ts';
import type { OpenPlantFeed } from '../changes/plant-feed.ts';
import type { Database } from '../database/database.ts';
import { orUnavailable } from '../database/errors.ts';
import { databaseCode, rootMessage } from '../error-causes.ts';
import { invalidInput, PlantStoreError } from '../plant-store-error.ts';
import { webhooks } from '../tables/tables.ts';
import type { WebhookAttempt } from '../tables/webhook-values.ts';
import { explainUrl, findAddresses, parseAllowed } from './addresses.ts';
import { bodyOf } from './next-message.ts';
import { createSecretBox } from './secrets.ts';
import { postTo, retryDelays } from './send-changes.ts';
import { createWebhookSender } from './webhook-sender.ts';
import { atOnce, createWebhookTable, inSeconds, now, type WebhookChange } from './webhook-table.ts';

export interface WebhookSettings {
  /** Private hosts and networks to which the store may connect, even over http. See `isWebhookTarget`. */
  readonly allow?: readonly string[] | undefined;
  /** The key that encrypts the secrets in the database. Default: no encryption. See `isSecretsKey`. */
  readonly secretsKey?: string | undefined;
  /** The seconds before each retry. */
  readonly retryDelays?: readonly number[] | undefined;
}

export type NewWebhook = z.input<typeof NewWebhook>;

/** An endpoint to which the store sends changes by HTTP. */
export interface Webhook {
  readonly name: string;
  readonly url: string;
  readonly tag: string | null;
  readonly only: PlantChange['type'] | null;
  readonly createdAt: Date;
  readonly state: 'active' | 'failing' | 'paused';
  /** The reason why an instance has paused the endpoint. */
  readonly pausedBecause: string | null;
  /** The endpoint has got every change that is older than this number of seconds. */
  readonly lag: number;
  /** The endpoint has the changes before this cursor. */
  readonly cursor: string;
  readonly nextAttemptAt: Date | null;
}

export interface Webhooks {
  /**
   * Creates an endpoint, and returns its name and its secret. Only this call returns the secret.
   *
   * @throws PlantStoreError `invalidInput` when the name is taken, when the URL is not allowed, or when the
   *   cursor is not valid; `cursorExpired` when the feed no longer has the changes after the cursor;
   *   `notImplemented` when the database has no feed
   */
  create(url: string, options?: NewWebhook): Promise<{ name: string; secret: string }>;
  list(): Promise<Webhook[]>;
  /** Returns an endpoint with its last hundred attempts, or undefined when no endpoint has the name. */
  get(name: string): Promise<(Webhook & { attempts: WebhookAttempt[] }) | undefined>;
  /** `pause`, `resume`, `replay` and `delete` return whether the endpoint exists. */
  pause(name: string): Promise<boolean>;
  /** Resumes immediately with the first change that the endpoint has not accepted. */
  resume(name: string): Promise<boolean>;
  /**
   * Sends the changes after a cursor, or since a time, again. The time of a created plant is its `createdAt`,
   * which an import may have set. Throws the same errors as `create`.
   */
  replay(name: string, from: string | Date): Promise<boolean>;
  delete(name: string): Promise<boolean>;
  /**
   * Returns a new secret, or undefined when the endpoint does not exist. For 24 hours, the old secret also
   * signs each message.
   */
  rotate(name: string): Promise<string | undefined>;
  /** Sends a message of the type `plants.test`. Returns undefined when the endpoint does not exist. */
  test(name: string): Promise<WebhookAttempt | undefined>;
  /** Sends changes from this process until the store closes. */
  send(): void;
  /** `lag` is the largest lag of all endpoints, and `failing` is the number of failing endpoints. */
  state(): Promise<{ lag: number; failing: number }>;
}

interface Options extends WebhookSettings {
  readonly feed: OpenPlantFeed;
  readonly warn: (message: string) => void;
}

export function createWebhooks(
  database: Pick<Database, 'db'>,
  { feed, warn, allow = [], secretsKey, retryDelays: delays = retryDelays }: Options,
): Webhooks & { stop(): Promise<void> } {
  const table = createWebhookTable(database);
  const secrets = createSecretBox(secretsKey);
  const allowed = parseAllowed(allow);
  const sending = { feed, secrets, allowed, delays, warn };
  const sender = createWebhookSender(table, sending);

  return {
    async create(url, options = {}) {
      const { data, error } = NewWebhook.safeParse(options);
      if (error) throw invalidInput(error);
      const { name = '', tag, only, from } = data;
      const fault = explainUrl(url, allowed);
      if (fault !== undefined) throw invalid(`the URL ${fault}`);
      // Only messages need the address, so `create` ignores an error of the look-up.
      await findAddresses(new URL(url), allowed).catch((error) => {
        if (databaseCode(error) === undefined) throw invalid(rootMessage(error));
      });
      const chosen = name || new URL(url).hostname.slice(0, 100);
      const cursor = await cursorOf(from);
      const { secret, stored } = secrets.create(chosen);
      // A sender may still run for a deleted endpoint with this name. A random revision stops the sender.
      const revision = randomInt(2 ** 30);
      const row = { name: chosen, url, tag, changeType: only, cursor, secret: stored, revision };
      if (!(await noticed(table.insert(row)))) {
        throw invalid(`the name ${JSON.stringify(chosen)} is taken: choose another name`);
      }
      return { name: chosen, secret };
    },

    list: () => orUnavailable(table.list()),
    get: async (name) => (await orUnavailable(table.get(name)))[0],
    pause: (name) =>
      change(name, {
        pausedAt: now,
        pausedBecause: null,
        behindSince: sql`coalesce(${webhooks.behindSince}, ${now})`,
      }),
    resume: (name) => change(name, { ...atOnce, pausedAt: null, pausedBecause: null }),
    replay: async (name, from) =>
      change(name, { ...atOnce, cursor: await cursorOf(from), message: null }),
    delete: (name) => noticed(table.remove(name)),

    async rotate(name) {
      const { secret, stored } = secrets.create(name);
      const oldSecret = sql`${webhooks.secret}`;
      const set = { secret: stored, oldSecret, oldSecretUntil: inSeconds(24 * 60 * 60) };
      return (await change(name, set)) ? secret : undefined;
    },

    async test(name) {
      const [row] = await orUnavailable(table.find(name));
      if (!row) return undefined;
      const id = `msg_${randomUUID()}`;
      const { retryAfter, ...attempt } = await postTo(row, id, bodyOf('plants.test'), sending);
      return attempt;
    },

    send: () => sender.start(),
    async state() {
      const all = await orUnavailable(table.list());
      const isFailing = (each: Webhook) => each.state === 'failing' || each.pausedBecause !== null;
      return {
        lag: Math.max(0, ...all.map(({ lag }) => lag)),
        failing: all.filter(isFailing).length,
      };
    },
    stop: () => sender.stop(),
  };

  function change(name: string, set: WebhookChange): Promise<boolean> {
    return noticed(table.change(name, set));
  }

  /** Returns whether a statement changed a row. After a change, the sender reads the row again. */
  async function noticed(changed: PromiseLike<unknown[]>): Promise<boolean> {
    const rows = await orUnavailable(changed).finally(() => sender.notice());
    return rows.length > 0;
  }

  /** Checks a cursor, or finds the cursor for a time. By default, returns the end of the feed. */
  async function cursorOf(from?: string | Date): Promise<string> {
    const cursor =
      from instanceof Date ? await feed.cursorBefore(from) : from && parseCursor(from, 'from');
    const { next } = await feed.read(cursor || undefined, 1);
    return formatCursor(cursor || next);
  }
}

const nameError = 'must have 1 to 100 characters and no control characters';

/** The options of `create`. The schema checks the options, because plain JavaScript may bypass the types. */
const NewWebhook = z.object({
  /** Default: the host of the URL. */
  name: z
    .string(nameError)
    .regex(/^[^\p{Cc}\p{Cs}]{1,100}$/u, nameError)
    .optional(),
  /** Sends only changes of plants with this tag. */
  tag: Plant.shape.tag,
  /** Sends only changes of this type. */
  only: PlantChange.shape.type.optional(),
  /** The endpoint gets the changes after this cursor. Default: the end of the feed. */
  from: z.string('must be a cursor').optional(),
});

function invalid(message: string): PlantStoreError {
  return new PlantStoreError('invalidInput', `invalid input: ${message}`);
}
