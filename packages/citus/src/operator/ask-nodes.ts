import type { Query } from '@plant-store/core/cluster';

interface NodeResult {
  /** The group number of the node. */
  readonly id: number;
  /** The host and port of the node, as the cluster knows them. */
  readonly address: string;
  readonly mayStore: boolean;
  /** The value that the statement selected. Undefined when the node is down. */
  readonly result: string | undefined;
}

/** Runs a statement on every node of the cluster. The statement must select one value. */
export async function askNodes(query: Query, statement: string): Promise<NodeResult[]> {
  const { rows } = await query(onAllNodes, [statement]);
  const results = rows as [number, string, boolean, string | null][]; // `onAllNodes` selects four columns.
  return results.map(([id, address, mayStore, result]) => {
    return { id: Number(id), address, mayStore, result: result ?? undefined };
  });
}

const onAllNodes = `
  select groupid, nodename || ':' || nodeport, shouldhaveshards, case when success then result end
  from run_command_on_all_nodes($1) join pg_dist_node using (nodeid)
  where noderole = 'primary' order by groupid`;

/** Counts the plants that running COPY statements have written. Ignores nodes that are down. */
export async function readCopied(query: Query): Promise<number> {
  const results = await askNodes(query, selectCopied);
  return results.reduce((sum, { result = 0 }) => sum + Number(result), 0);
}

const selectCopied = `
  select coalesce(sum(tuples_processed), 0) from pg_stat_progress_copy
  where command = 'COPY FROM' and datname = current_database()
    and relid::regclass::text ~ '\\mplants_\\d+$'`;
