import { parseJson, type WebhookAttempt } from '@plant-store/schemas';
import type { Cursor } from '../changes/cursor.ts';
import type { Database } from '../database/database.ts';

/** A row of the table `webhooks`, parsed from JSON. The ids of a row may be beyond JavaScript's safe integers. */
export interface WebhookRow {
  readonly name: string;
  readonly url: string;
  readonly secret: string;
  readonly created_at: string;
  /** The endpoint has the changes up to this position. */
  readonly epoch: string;
  readonly transaction: string;
  readonly last_id: bigint | number;
  /** The message that has no successful attempt yet, and the position of its last change. */
  readonly message_id: string | null;
  readonly to_transaction: string | null;
  readonly to_id: bigint | number | null;
  /** The number of failed attempts to send the message. */
  readonly failures: number;
  readonly due_at: string;
  readonly paused_at: string | null;
  readonly paused_because: string | null;
  readonly last_attempt: (Omit<WebhookAttempt, 'at'> & { readonly at: string }) | null;
}

export function webhookRows(rows: readonly (readonly [json: string])[]): WebhookRow[] {
  // The cast is safe, because `row_to_json` writes each column of the table.
  return rows.map(([json]) => parseJson(json) as WebhookRow);
}

/** Runs a statement that changes at most one webhook, and returns the row of the webhook. */
export async function writeWebhook(
  { write }: Pick<Database, 'write'>,
  text: string,
  values: readonly (string | null)[],
): Promise<WebhookRow | undefined> {
  const { rows } = await write<[string]>(text, values, { kind: 'reads' });
  return webhookRows(rows)[0];
}

/** The position of the last change that the endpoint has. */
export function positionOf({ epoch, transaction, last_id: id }: WebhookRow): Cursor {
  return { epoch, transaction: BigInt(transaction), id: BigInt(id) };
}

/** A position as parameters of a statement: the epoch, the transaction and the id. */
export function cursorValues({ epoch, transaction, id }: Cursor): [string, string, string] {
  return [epoch, String(transaction), String(id)];
}

// Most statements return webhooks as JSON. All conditions use the database's clock.

/** A claim lasts longer than a request to an endpoint may take. */
const claim = `interval '60 seconds'`;

/**
 * Claims one due webhook that is behind the end of the feed or has a message to repeat. The new `due_at`
 * identifies the claim: the statement that saves the outcome must name this time.
 *
 * $1 the epoch, $2 the transaction and $3 the id of the end of the feed
 */
export const claimWebhook = `
  with due as (
    select name from webhooks
    where paused_at is null and due_at <= clock_timestamp() and (message_id is not null
      or epoch <> $1 or (transaction, last_id) < ($2::xid8, $3::bigint))
    order by due_at limit 1 for update skip locked
  )
  update webhooks set due_at = clock_timestamp() + ${claim}
  from due where webhooks.name = due.name
  returning row_to_json(webhooks)::text`;

/**
 * Saves the message of a webhook before the first attempt, so that all attempts have the same id and range.
 *
 * The claim is a text, because the driver would cut the microseconds of a time.
 *
 * $1 the name, $2 the claim, $3 the message's id, $4 the transaction and $5 the id of the last change
 */
export const beginMessage = `
  update webhooks set message_id = $3, to_transaction = $4::xid8, to_id = $5::bigint
  where name = $1 and due_at = $2::text::timestamptz
  returning row_to_json(webhooks)::text`;

/** Ends a claim, so that another instance can continue immediately. $1 the name, $2 the claim */
export const releaseWebhook = `
  update webhooks set due_at = clock_timestamp() where name = $1 and due_at = $2::text::timestamptz
  returning row_to_json(webhooks)::text`;

/**
 * Saves that an endpoint has all changes up to a position.
 *
 * $1 the name, $2 the claim, $3 the epoch, $4 the transaction and $5 the id of the position, $6 the attempt,
 * or null when nothing was sent
 */
export const savePosition = `
  update webhooks set epoch = $3, transaction = $4::xid8, last_id = $5::bigint, message_id = null,
    failures = 0, due_at = clock_timestamp(), last_attempt = coalesce($6::text::jsonb, last_attempt)
  where name = $1 and due_at = $2::text::timestamptz
  returning row_to_json(webhooks)::text`;

/**
 * Saves a failed attempt.
 *
 * $1 the name, $2 the claim, $3 seconds until the next attempt, $4 the reason for a pause, or null, $5 the
 * attempt
 */
export const saveFailure = `
  update webhooks set failures = failures + 1,
    due_at = clock_timestamp() + make_interval(secs => $3::float8),
    paused_at = case when $4::text is not null then clock_timestamp() end, paused_because = $4,
    last_attempt = $5::text::jsonb
  where name = $1 and due_at = $2::text::timestamptz
  returning row_to_json(webhooks)::text`;

/** Finds a webhook that is not paused. */
export const hasActiveWebhook = `select name from webhooks where paused_at is null limit 1`;

/** $1 the name, $2 the URL, $3 the secret, $4 the epoch, $5 the transaction, $6 the id of the position */
export const insertWebhook = `
  insert into webhooks (name, url, secret, epoch, transaction, last_id)
  values ($1, $2, $3, $4, $5::xid8, $6::bigint)
  on conflict (name) do nothing
  returning row_to_json(webhooks)::text`;

/** $1 the name after which the page begins, $2 the number of webhooks in the page */
export const listWebhooks = `
  select row_to_json(webhooks)::text from webhooks where name > $1 order by name limit $2::int`;

/** $1 the name */
export const findWebhook = `select row_to_json(webhooks)::text from webhooks where name = $1`;

/** $1 the name */
export const pauseWebhook = `
  update webhooks set paused_at = coalesce(paused_at, clock_timestamp()) where name = $1
  returning row_to_json(webhooks)::text`;

/** Resumes a webhook, whose next attempt is then due immediately. $1 the name */
export const resumeWebhook = `
  update webhooks set paused_at = null, paused_because = null, failures = 0, due_at = clock_timestamp()
  where name = $1
  returning row_to_json(webhooks)::text`;

/** Moves a webhook to a position. $1 the name, $2 the epoch, $3 the transaction, $4 the id */
export const replayWebhook = `
  update webhooks set epoch = $2, transaction = $3::xid8, last_id = $4::bigint, message_id = null,
    failures = 0, due_at = clock_timestamp()
  where name = $1
  returning row_to_json(webhooks)::text`;

/** $1 the name, $2 the new secret */
export const rotateSecret = `update webhooks set secret = $2 where name = $1 returning row_to_json(webhooks)::text`;

/** $1 the name */
export const deleteWebhook = `delete from webhooks where name = $1 returning row_to_json(webhooks)::text`;

/** The number of webhooks whose state is `failing`, or that an instance has paused. */
export const countFailing = `
  select count(*)::text from webhooks
  where paused_because is not null or (paused_at is null and failures > 0)`;
