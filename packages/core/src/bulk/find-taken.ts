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
 * Compares the plants of a call with the stored plants, in one statement. The statement does not use a
 * temporary table, because the user may lack the privilege to create tables. The statement does not need a
 * transaction, because a pooler may split transactions.
 *
 * A row can be visible before it is durable on the synchronous standby. So the statement writes a message to
 * the log for each row that it reads. The commit of the statement then waits for the standby: see
 * `waitForStandby` in ../plants/statements.ts.
 *
 * If the planner knew the length of long arrays, it would read the whole table. The planner cannot evaluate
 * the `case` expressions, so it does not know the length.
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
  // The cast is safe, because the statement selects these columns. A driver may return a bigint as a string,
  // a number or a bigint.
  return (rows as [string | number | bigint, boolean, unknown][]).map(([at, isSame]) => ({
    at: Number(at),
    isSame,
  }));
}
