import type { Verbs } from '../database/verbs.ts';
import { newColumns, sameContentSql } from '../plants/columns.ts';

/** A plant in a call for several plants. The id of the plant is taken. */
export interface TakenId {
  /** The index of the plant among the plants of the call. */
  readonly at: number;
  /** Whether the stored plant and the plant of the call have equal contents. */
  readonly isSame: boolean;
}

/**
 * Compares the plants of a call with the stored plants. The comparison is one statement, because the user may
 * lack the privilege to create a temporary table, and a pooler may split a transaction.
 *
 * A row can be visible before the row is durable on the synchronous standby. For each row, the statement
 * writes a message to the log, so that the commit waits for the standby: see `waitForStandby`.
 *
 * If the planner knew the length of long arrays, the planner would read the whole table. The `case`
 * expressions hide the length from the planner.
 */
const compare = `
  select loaded.at - 1, ${sameContentSql('plants', 'loaded')},
    pg_logical_emit_message(true, 'plant-store', '')
  from unnest(${newColumns.map(
    ({ type }, i) => `case when random() < 1 then $${i + 1}::${type}[] end`,
  )}) with ordinality as loaded (${newColumns.map(({ name }) => name)}, at)
  join plants on plants.id = loaded.id`;

/** Finds the plants whose ids are taken. */
export async function findTaken(
  { read }: Pick<Verbs, 'read'>,
  values: (string | null)[],
): Promise<TakenId[]> {
  const { rows } = await read(compare, values, { share: 'bulk' });
  // The statement selects these columns. A driver returns a bigint as a string, a number or a bigint.
  return (rows as [string | number | bigint, boolean, unknown][]).map(([at, isSame]) => ({
    at: Number(at),
    isSame,
  }));
}
