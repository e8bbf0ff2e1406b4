import type { Verbs } from '../database/verbs.ts';
import { newColumns, sameContentSql } from '../plants/columns.ts';

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

/**
 * Finds the plants whose ids are taken. The keys of the map are the indexes of these plants. The values say
 * whether the stored plant and the plant of the call have equal contents.
 */
export async function findTaken(
  { read }: Pick<Verbs, 'read'>,
  values: (string | null)[],
): Promise<Map<number, boolean>> {
  const { rows } = await read(compare, values, { share: 'bulk' });
  // The statement selects these columns. A driver returns a bigint as a string, a number or a bigint.
  const found = rows as [string | number | bigint, boolean, unknown][];
  return new Map(found.map(([at, isSame]) => [Number(at), isSame]));
}
