/** Runs a statement and returns its rows as objects. */
export type Run = (statement: string) => Promise<unknown[]>;

/** The role of a database in a Citus cluster. Only the coordinator changes tables. */
export type ClusterRole = 'coordinator' | 'worker';

/** The role of a database; undefined when it does not have the extension. */
export async function clusterRole(run: Run): Promise<ClusterRole | undefined> {
  const [extension] = await run(`select from pg_extension where extname = 'citus'`);
  if (!extension) return undefined;
  const [row] = (await run('select groupid from pg_dist_local_group')) as { groupid: number }[];
  return Number(row?.groupid) === 0 ? 'coordinator' : 'worker';
}
