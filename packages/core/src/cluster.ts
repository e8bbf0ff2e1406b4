/** The parts of core that @plant-store/citus uses. */
export { ConnectionPool } from './database/connection-pool.ts';
export {
  type ConnectTo,
  type Database,
  type DatabaseConnection,
  lateCommit,
  type NodeConnections,
  type Query,
  type Share,
  send,
  type Verbs,
} from './database/database.ts';
export {
  databaseUnavailable,
  isCancelled,
  isDataError,
  isLateWrite,
  lateWrite,
  lateWriteError,
} from './database/database-error.ts';
export { deadlineIn, defaultTimeout, withTimeout } from './database/deadline.ts';
export { tableOids } from './database/inspection/table-check.ts';
export { createConnectToPrimary } from './database/postgres/connect-to-primary.ts';
export { type Connection, connectPostgres } from './database/postgres/connection.ts';
export { isCluster } from './database/postgres/migration/feed-tables.ts';
export { migrationTimeout } from './database/postgres/migration/migration.ts';
export type { SharedTurn } from './database/queues/coalescer.ts';
export { createVerbs } from './database/verbs.ts';
export { databaseCode, rootMessage } from './error-causes.ts';
export type {
  Cluster,
  ClusterEvents,
  ClusterStore,
  ClusterWatch,
  NodeReroute,
  NodeState,
  StoreLanes,
} from './plants/cluster.ts';
export { columnArrays, contentColumns, contentValues } from './plants/columns.ts';
export type { CountUpTo } from './plants/count-up-to.ts';
export { deleteAdvice } from './plants/create-errors.ts';
export { createLane, type Lane } from './plants/lane.ts';
export { createPlantStatements, idsOf, type PlantStatements } from './plants/statements.ts';
