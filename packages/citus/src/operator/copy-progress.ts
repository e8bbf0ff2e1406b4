import type { Query } from '@plant-store/core/cluster';

/** Reads how many plants the nodes have received from the running copies. */
export async function readCopied(query: Query): Promise<number> {
  const { rows } = await query(selectCopied);
  return Number((rows as [string][])[0]?.[0]); // The cast is safe, because the statement returns one row.
}

/** Leaves out the nodes that are unreachable. */
const selectCopied = `
  select coalesce(sum(result::bigint), 0) from run_command_on_all_nodes($$
      select coalesce(sum(tuples_processed), 0) from pg_stat_progress_copy
      where command = 'COPY FROM' and datname = current_database()
        and relid::regclass::text ~ '\\mplants_\\d+$' $$)
  where success`;
