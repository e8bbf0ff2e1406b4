/**
 * Whether Citus has distributed the plants, or has begun to, as a condition in SQL. Citus adds this trigger
 * on each node. A statement cannot name Citus's own tables, because other databases lack them.
 */
export const isCluster = `exists (select from pg_trigger where tgrelid = to_regclass('plants')
  and tgfoid = to_regproc('pg_catalog.citus_truncate_trigger'))`;

/** The warning of a program that does not know the cluster. */
export const unknownCluster =
  'the plants are distributed over a Citus cluster, and this program sends them all through one node, which ' +
  'costs more: pass `cluster: citus` of @plant-store/citus beside the databaseUrl';
