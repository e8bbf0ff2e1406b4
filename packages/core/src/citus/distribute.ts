import type { Query } from '../database/database.ts';

/**
 * Distributes the plants of a store over the nodes of a Citus cluster. Meanwhile, reads and writes of plants wait
 * until the plants are copied. A call that waits too long gets the error `databaseUnavailable`.
 *
 * @param shards the number of shards. Default: two for each node.
 * @param confirm gets the plan, and returns whether to execute it
 * @returns whether the plants were distributed
 * @throws Error whose message names the problems, and the errors of `usePostgres`
 */
export async function distribute(
  databaseUrl: string,
  { shards, confirm }: { shards?: number | undefined; confirm: (plan: string) => Promise<boolean> },
): Promise<boolean> {
  const { usePostgres } = await import('../database/postgres.ts');
  const outcome = await usePostgres(databaseUrl, async (query) => {
    const [state] = await query<{ nodes: number; problem?: string }>(selectState).catch(() => []);
    if (!state) return 'the database needs Citus, and the tables of a store: see docs/scaling.md';
    const problems = state.problem ? [state.problem] : await inspectCluster(query);
    if (problems.length > 0) return problems.join('\n');
    const count = shards ?? 2 * state.nodes;
    if (!(await confirm(`${count} shards on ${state.nodes} nodes`))) return false;
    await query(distributeTables(count));
    return true;
  });
  if (typeof outcome === 'string') throw new Error(outcome);
  return outcome;
}

const selectState = `
  select nodes, case
      when exists (select from pg_dist_partition where logicalrelid = 'plants'::regclass)
        then 'the plants are already distributed'
      when nodes = 0
        then 'no node may have shards: run SELECT citus_add_node(''host'', 5432)' end as problem
  from (select count(*)::int as nodes from pg_dist_node where isactive and shouldhaveshards) as active`;

/**
 * Distributes the tables in one transaction. Citus evaluates every function of a default, even in an unused
 * branch of `case`, so the default in `tables.ts` would change `synchronous_commit`. Nodes get `lock_timeout`
 * only from the role. Without the last two steps, the coordinator would keep a copy of the rows.
 */
const distributeTables = (shards: number) => `do $$ begin
    lock table plants, plant_deletions in access exclusive mode;
    alter table plants alter changed_in set default pg_current_xact_id();
    alter table plant_deletions alter changed_in set default pg_current_xact_id();
    execute format('alter role current_user in database %I set lock_timeout = ''4s''', current_database());
    perform create_distributed_table('plants', 'id', shard_count => ${Math.trunc(shards)});
    perform create_distributed_table('plant_deletions', 'id', colocate_with => 'plants');
    perform truncate_local_data_after_distributing_table('plants');
    perform truncate_local_data_after_distributing_table('plant_deletions');
  end $$`;

/** Returns the problems of a cluster and its nodes, for `distribute` and `doctor`. */
export async function inspectCluster(query: Query): Promise<string[]> {
  const rows = await query<{ problem: string }>(selectProblems, [selectNodeProblems]);
  return rows.map(({ problem }) => problem);
}

/** $1 the statement for each node: %1$s is the time of the coordinator, and %2$I is the user */
const selectProblems = `
  select 'a privilege is missing: on the coordinator, run GRANT EXECUTE ON FUNCTION '
    || 'recover_prepared_transactions() TO ' || quote_ident(current_user) as problem
  where not has_function_privilege('recover_prepared_transactions()', 'execute')
  union all
  select format('the node %s:%s %s', nodename, nodeport, problem)
  from run_command_on_workers(
      format($1::text, extract(epoch from clock_timestamp())::text, current_user)) as node
    cross join lateral unnest(
      case when success then result::text[] else array['is down: start it'] end) as problem`;

const selectNodeProblems = `
  select coalesce(array_agg(problem), '{}') from (values
    (abs(extract(epoch from clock_timestamp()) - %1$s) > 1,
      'has another time than the coordinator: set all clocks by NTP'),
    (current_setting('synchronous_commit') = 'off',
      'can lose plants in a crash: set its synchronous_commit to on'),
    (not pg_has_role('pg_read_all_stats', 'usage'),
      'hides its sessions: there, run GRANT pg_read_all_stats TO %2$I')
  ) as checks (is_wrong, problem) where is_wrong`;
