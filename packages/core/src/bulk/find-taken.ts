import type { Verbs } from '../database/verbs.ts';
import { contentColumns, sameContentSql } from '../plants/columns.ts';

/** A plant of a call whose id is taken. */
export interface TakenId {
  /** The plant's place among the plants of the call, from 0. */
  readonly at: number;
  /** Whether the stored plant has the same content. */
  readonly isSame: boolean;
}

/**
 * Compares plants with the stored ones, in one statement. It needs no temporary table, for which the user
 * may lack the privilege, and no transaction, which poolers split.
 *
 * A row can be visible before it is durable on the synchronous standby. So the statement
 * writes to the log after each row that it reads, and then its own commit waits for the standby: see
 * `waitForStandby` in ../plants/statements.ts.
 *
 * The planner must not know the length of the arrays. Otherwise it would read the whole table for each call.
 * So an expression that the planner cannot evaluate returns the arrays.
 */
const compare = `
  select loaded.at - 1, ${sameContentSql('plants', 'loaded')},
    pg_logical_emit_message(true, 'plant-store', '')
  from unnest(${['bigint', ...contentColumns.map(({ type }) => type)].map(
    (type, i) => `case when random() < 1 then $${i + 1}::${type}[] end`,
  )}) with ordinality as loaded (${['id', ...contentColumns.map(({ name }) => name), 'at']})
  join plants on plants.id = loaded.id`;

/** Finds the plants whose ids are taken. */
export async function findTaken(
  { read }: Pick<Verbs, 'read'>,
  values: (string | null)[],
): Promise<TakenId[]> {
  const { rows } = await read(compare, values, { share: 'bulk' });
  // The statement selects these columns. A driver may return a bigint as any of these types.
  return (rows as [string | number | bigint, boolean, unknown][]).map(([at, isSame]) => ({
    at: Number(at),
    isSame,
  }));
}
