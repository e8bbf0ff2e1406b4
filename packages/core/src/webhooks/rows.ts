import type { WebhookAttempt } from '@plant-store/schemas';
import { parseJson } from '@plant-store/schemas/plain';
import type { Database } from '../database/database.ts';

/** A row of the table, which `parseJson` has read. */
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
  readonly replays: number;
  /** The number of failed attempts to send the message. */
  readonly failures: number;
  readonly due_at: string;
  readonly paused_at: string | null;
  readonly paused_because: string | null;
  readonly last_attempt: (Omit<WebhookAttempt, 'at'> & { readonly at: string }) | null;
}

/** Reads a row that a statement returned as JSON. Its ids may be larger than JavaScript's safe integers. */
export function readRow(json: string): WebhookRow {
  // The cast is safe, because `row_to_json` writes each column of the table.
  return parseJson(json) as WebhookRow;
}

/** Runs a statement that changes at most one endpoint, and returns its row. */
export async function writeRow(
  { write }: Pick<Database, 'write'>,
  text: string,
  values: readonly (string | null)[],
): Promise<WebhookRow | undefined> {
  const { rows } = await write<[string]>(text, values, { kind: 'reads' });
  const [[value] = []] = rows;
  return value === undefined ? undefined : readRow(value);
}
