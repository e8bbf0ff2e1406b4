import { type Query, useDatabase } from '../database/database.ts';
import type { Finding } from '../doctor.ts';
import { inspectCluster } from './inspect.ts';

/** The error of a distribution that the cluster does not allow. Nothing was changed. */
export class DistributeError extends Error {
  override readonly name = 'DistributeError';
}

/** The plan of a distribution. */
export interface Distribution {
  readonly nodes: number;
  readonly shards: number;
}

/**
 * Distributes the plants of a store over the nodes of a Citus cluster. Instances of the store may run. Their
 * writes wait until the plants are copied, and those that wait too long get the error `databaseUnavailable`.
 *
 * @param shards the number of shards. Default: two for each node.
 * @param confirm decides about the plan
 * @returns whether the plants were distributed
 * @throws DistributeError that says what is missing, and PlantStoreError `databaseUnavailable`
 */
export async function distribute(
  databaseUrl: string,
  {
    shards,
    confirm,
  }: { shards?: number | undefined; confirm: (plan: Distribution) => Promise<boolean> },
): Promise<boolean> {
  const outcome = await useDatabase({ databaseUrl }, async (query) => {
    const nodes = await checkCluster(query);
    if (typeof nodes === 'string') return new DistributeError(nodes);
    const plan = { nodes, shards: shards ?? 2 * nodes };
    if (!(await confirm(plan))) return false;
    await distributeTables(query, plan);
    return true;
  });
  if (outcome instanceof DistributeError) throw outcome;
  return outcome === true;
}

/** Returns the number of nodes with shards, or what somebody must do first. */
async function checkCluster(query: Query): Promise<number | string> {
  const [server] = await query<{ tables: boolean; citus: boolean }>(`
    select to_regclass('plants') is not null as tables,
      to_regclass('pg_catalog.pg_dist_node') is not null as citus`);
  if (!server?.citus) {
    return 'this database has no Citus: run CREATE EXTENSION citus on each node, and add the nodes';
  }
  if (!server.tables) return 'there is no store here: start the server once';
  const [state] = await query<{ nodes: number; isDistributed: boolean }>(`
    select (select count(*)::int from pg_dist_node
        where isactive and noderole = 'primary' and shouldhaveshards) as nodes,
      exists (select from pg_dist_partition where logicalrelid = 'plants'::regclass) as "isDistributed"`);
  if (state?.isDistributed) return 'the plants are already distributed';
  if (!state?.nodes) {
    return "no node may have shards: run SELECT citus_add_node('host', 5432)";
  }
  const problems = (await inspectCluster(query)).filter(isProblem);
  if (problems.length > 0) return problems.map(({ message }) => message).join('\n');
  return state.nodes;
}

const isProblem = ({ level }: Finding) => level === 'problem';

async function distributeTables(query: Query, { shards }: Distribution): Promise<void> {
  await query('begin');
  try {
    await query('lock table plants, plant_deletions in access exclusive mode');
    for (const table of ['plants', 'plant_deletions']) {
      // Citus evaluates each function of a default, whatever its `case` says: the default of the migration
      // would change synchronous_commit.
      await query(`alter table ${table} alter column changed_in set default pg_current_xact_id()`);
    }
    await query(
      `select create_distributed_table('plants', 'id', shard_count => ${Math.trunc(shards)})`,
    );
    await query(
      `select create_distributed_table('plant_deletions', 'id', colocate_with => 'plants')`,
    );
    // Without this, the coordinator would keep a hidden copy of the rows.
    await query(`select truncate_local_data_after_distributing_table('plants')`);
    await query(`select truncate_local_data_after_distributing_table('plant_deletions')`);
    // The coordinator does not send its own limit to the nodes. Citus tells this setting to all nodes.
    await query(`
      do $$ begin
        execute format('alter role current_user in database %I set lock_timeout = ''4s''', current_database());
      end $$`);
    await query('commit');
  } catch (error) {
    await query('rollback').catch(() => {});
    throw error;
  }
}
