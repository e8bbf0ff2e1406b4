import { holds, type Query } from '../database/database.ts';

/** A webhook whose endpoint does not accept the changes. */
export interface FailingWebhook {
  readonly name: string;
  /** The number of failed attempts since the last success. */
  readonly failures: number;
  /** Whether an instance has paused the webhook. Only the operator can resume a paused webhook. */
  readonly isPaused: boolean;
  /** The error of the last attempt. */
  readonly error: string | null;
}

/**
 * Reads the failing webhooks. Returns an empty list when the table is missing or locked, or when this user
 * may not read the table.
 */
export async function readFailingWebhooks(query: Query): Promise<FailingWebhook[]> {
  return (await holds(query, isReadable)) ? query(selectFailing) : [];
}

/** If the table does not exist, the condition is null, and `holds` returns false. */
const isReadable = `(has_table_privilege(to_regclass('webhooks'), 'select') and not exists (
  select from pg_locks
  where relation = to_regclass('webhooks') and mode = 'AccessExclusiveLock'))`;

const selectFailing = `
  select name, failures, paused_at is not null as "isPaused", attempts -> -1 ->> 'error' as error
  from webhooks where failures > 0 or paused_because is not null order by name`;
