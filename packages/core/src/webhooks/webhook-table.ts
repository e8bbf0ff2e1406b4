import {
  and,
  asc,
  eq,
  getTableColumns,
  isNull,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import type { Database } from '../database/database.ts';
import { webhooks } from '../tables/tables.ts';
import type { WebhookAttempt, WebhookMessage } from '../tables/webhook-values.ts';

export type WebhookChange = PgUpdateSetSource<typeof webhooks>;

/** An endpoint with the columns that an instance needs to send changes. */
export type HeldWebhook = Awaited<ReturnType<WebhookTable['claim']>>[number];

export type WebhookTable = ReturnType<typeof createWebhookTable>;

/** An instance holds an endpoint for this many seconds after each claim. */
export const leaseSeconds = 15;

/**
 * A call of `sendChanges` waits at most this many seconds for an attempt. `WebhookSender` calls `sendChanges`
 * again for a later attempt.
 */
export const maxWait = 2;

/** All conditions use the database's clock, so the clocks of the instances do not matter. */
export const now = sql`clock_timestamp()`;

export const inSeconds = (seconds: number) =>
  sql`clock_timestamp() + make_interval(secs => ${seconds}::float8)`;

/** Makes the next attempt due immediately, and resets the number of failed attempts. */
export const atOnce = { failures: 0, nextAttemptAt: null };

/** Adds an attempt to the list of attempts, which contains only the last hundred attempts. */
export const withAttempt = (attempt: WebhookAttempt) =>
  sql`(case when jsonb_array_length(${webhooks.attempts}) < 100 then ${webhooks.attempts}
    else ${webhooks.attempts} - 0 end) || ${asJson([attempt])}`;

/** The Postgres driver would convert a jsonb parameter to JSON again, so the value is passed as text. */
export const asJson = (value: object) => sql`${JSON.stringify(value)}::text::jsonb`;

export function createWebhookTable(database: Pick<Database, 'db'>) {
  const db = database.db({ kind: 'deletes' });
  const { attempts, holder, heldUntil, message, ...columns } = getTableColumns(webhooks);
  const { name, url, tag, createdAt, cursor, pausedAt, pausedBecause, nextAttemptAt } = columns;
  const secondsFrom = (from: SQLWrapper, to: SQLWrapper) =>
    sql<number>`coalesce(extract(epoch from ${to} - ${from}), 0)::float8`;
  // A lease with a distant end is over, too: somebody has set the clock of the database back.
  const isOver = sql`${heldUntil} not between ${now} and ${inSeconds(2 * leaseSeconds)}`;
  /** Seconds until the next attempt. */
  const wait = secondsFrom(now, nextAttemptAt);
  const sent = {
    ...columns,
    isOldSecretValid: sql<boolean>`coalesce(${columns.oldSecretUntil} > ${now}, false)`,
    wait,
    // A message may be large, so the statement returns the message only if the next attempt is due soon, and
    // otherwise null. The type of Drizzle lacks this null, so the cast adds null.
    message: sql`case when ${wait} <= ${maxWait} then ${message} end`.mapWith(
      message,
    ) as SQL<WebhookMessage | null>,
  };
  /** The columns of `Webhook`. */
  const shown = {
    ...{ name, url, tag, only: columns.changeType, createdAt },
    state: sql<'active' | 'failing' | 'paused'>`case when ${pausedAt} is not null then 'paused'
      when ${columns.failures} > 0 then 'failing' else 'active' end`,
    ...{ pausedBecause, lag: secondsFrom(columns.behindSince, now), cursor, nextAttemptAt },
  };

  return {
    /** Inserts no row when the name is taken. Each statement for the operator returns the changed rows. */
    insert: (row: typeof webhooks.$inferInsert) =>
      db.insert(webhooks).values(row).onConflictDoNothing().returning({ name }),

    list: () => db.select(shown).from(webhooks).orderBy(asc(name)),

    get: (wanted: string) =>
      db
        .select({ ...shown, attempts })
        .from(webhooks)
        .where(eq(name, wanted)),

    find: (wanted: string) => db.select(sent).from(webhooks).where(eq(name, wanted)),

    /** Changes an endpoint. The instance that sends to the endpoint notices the change. */
    change: (wanted: string, change: WebhookChange) =>
      db
        .update(webhooks)
        .set({ ...change, revision: sql`${columns.revision} + 1` })
        .where(eq(name, wanted))
        .returning({ name }),

    remove: (unwanted: string) => db.delete(webhooks).where(eq(name, unwanted)).returning({ name }),

    /** Claims the free endpoints, renews the claims of this instance, and returns the claimed endpoints. */
    claim: (instance: string) =>
      db
        .update(webhooks)
        .set({ holder: instance, heldUntil: inSeconds(leaseSeconds) })
        .where(and(isNull(pausedAt), or(eq(holder, instance), isNull(holder), isOver)))
        .returning(sent),

    /**
     * Changes an endpoint that this instance has claimed, and returns the new row. If another instance has
     * claimed the endpoint, or if the operator has changed the endpoint, returns undefined without a change.
     */
    async advance(row: { name: string; revision: number }, instance: string, set: WebhookChange) {
      const isOurs = [eq(holder, instance), eq(name, row.name), eq(columns.revision, row.revision)];
      const changed = db
        .update(webhooks)
        .set(set)
        .where(and(...isOurs, isNull(pausedAt)));
      const [next] = await changed.returning(sent);
      return next;
    },

    async release(instance: string): Promise<void> {
      await db.update(webhooks).set({ holder: null }).where(eq(holder, instance));
    },
  };
}
