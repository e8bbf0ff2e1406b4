import { and, asc, eq, getTableColumns, isNull, lt, or, sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import { drizzleOver } from '../database/drizzle-over.ts';
import type { Verbs } from '../database/verbs.ts';
import { type WebhookAttempt, webhooks } from '../tables/tables.ts';

/** Values for the columns of an endpoint. */
export type WebhookChange = PgUpdateSetSource<typeof webhooks>;

/** The endpoint as an instance sends to it. */
export type HeldWebhook = Awaited<ReturnType<WebhookTable['claim']>>[number];

export type WebhookTable = ReturnType<typeof createWebhookTable>;

/** Seconds for which an instance holds an endpoint, unless it claims the endpoint again. */
export const leaseSeconds = 15;

const secondsSince = (column: typeof webhooks.behindSince) =>
  sql<number>`coalesce(extract(epoch from clock_timestamp() - ${column}), 0)::float8`;

/** Whether an endpoint does not accept the changes. */
const isFailing = sql<boolean>`(${webhooks.failures} > 0 or ${webhooks.pausedBecause} is not null)`;

/** The times of all conditions are those of the database, so the clocks of the instances do not matter. */
export const now = sql`clock_timestamp()`;

export const inSeconds = (seconds: number) =>
  sql`clock_timestamp() + make_interval(secs => ${seconds}::float8)`;

/** Makes an endpoint due at once, without failed attempts. */
export const atOnce = { failures: 0, nextAttemptAt: null };

/** Adds an attempt, and keeps the last hundred. */
export const withAttempt = (attempt: WebhookAttempt) =>
  sql`(case when jsonb_array_length(${webhooks.attempts}) < 100 then ${webhooks.attempts}
    else ${webhooks.attempts} - 0 end) || ${asJson([attempt])}`;

/** Passes a value as text. The driver of Postgres would write a JSON string for a text of the type jsonb. */
export const asJson = (value: object) => sql`${JSON.stringify(value)}::text::jsonb`;

/** Makes the statements for the endpoints. */
export function createWebhookTable({ write }: Pick<Verbs, 'write'>) {
  const db = drizzleOver(write, { share: 'lists' });
  const { attempts, holder, heldUntil, ...columns } = getTableColumns(webhooks);
  const { secret, oldSecret, message, ...shown } = columns;
  const { name, pausedAt, revision } = columns;
  const sent = {
    ...columns,
    isOldSecretValid: sql<boolean>`coalesce(${columns.oldSecretUntil} > ${now}, false)`,
    /** Seconds until the next attempt. */
    wait: sql<number>`
      coalesce(extract(epoch from ${columns.nextAttemptAt} - ${now}), 0)::float8`,
  };
  const listed = { ...shown, lag: secondsSince(columns.behindSince), isFailing };

  return {
    /** Returns whether the name was free. */
    async insert(row: typeof webhooks.$inferInsert): Promise<boolean> {
      const rows = await db.insert(webhooks).values(row).onConflictDoNothing().returning({ name });
      return rows.length > 0;
    },

    list: () => db.select(listed).from(webhooks).orderBy(asc(name)),

    async find(wanted: string) {
      const all = { ...sent, ...listed, attempts };
      const [row] = await db.select(all).from(webhooks).where(eq(name, wanted));
      return row;
    },

    /** Changes an endpoint for the operator. The instance that sends to the endpoint notices the change. */
    async change(wanted: string, change: WebhookChange): Promise<boolean> {
      const set = { ...change, revision: sql`${revision} + 1` };
      const changed = db.update(webhooks).set(set).where(eq(name, wanted));
      return (await changed.returning({ name })).length > 0;
    },

    async remove(unwanted: string): Promise<boolean> {
      const rows = await db.delete(webhooks).where(eq(name, unwanted)).returning({ name });
      return rows.length > 0;
    },

    /** Claims the free endpoints, and keeps those of this instance. Returns all endpoints of this instance. */
    claim: (instance: string) =>
      db
        .update(webhooks)
        .set({ holder: instance, heldUntil: inSeconds(leaseSeconds) })
        .where(
          and(
            isNull(pausedAt),
            or(eq(holder, instance), isNull(holder), lt(heldUntil, sql`${now}`)),
          ),
        )
        .returning(sent),

    /**
     * Changes an endpoint for the instance that sends to it. Returns undefined, and changes nothing, when
     * another instance has claimed the endpoint, or the operator has changed it. So an instance that was
     * frozen moves no cursor.
     */
    async advance(row: { name: string; revision: number }, instance: string, set: WebhookChange) {
      const isOurs = [eq(holder, instance), eq(name, row.name), eq(revision, row.revision)];
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

    async state(): Promise<{ lag: number; failing: number }> {
      const [row] = await db
        .select({
          lag: sql<number>`coalesce(max(${secondsSince(columns.behindSince)}), 0)::float8`,
          failing: sql<number>`count(*) filter (where ${isFailing})::int`,
        })
        .from(webhooks);
      return row ?? { lag: 0, failing: 0 };
    },
  };
}
