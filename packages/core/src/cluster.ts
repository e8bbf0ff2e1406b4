/** The parts of core that @plant-store/citus uses. */
export { ConnectionPool } from './database/connection-pool.ts';
export {
  type Bulk,
  type ConnectTo,
  type Database,
  type DatabaseConnection,
  lateCommit,
  type NodeConnections,
  type Rows,
  type Run,
  type Share,
  type Values,
} from './database/database.ts';
export {
  isCancelled,
  isDataError,
  isLateWrite,
  lateWrite,
  lateWriteError,
  orUnavailable,
} from './database/database-error.ts';
export { bulkTimeout, deadlineIn, defaultTimeout, withTimeout } from './database/deadline.ts';
export { tableOids } from './database/inspection/table-check.ts';
export { createConnectToPrimary } from './database/postgres/connect-to-primary.ts';
export { type Connection, connectPostgres } from './database/postgres/connection.ts';
export { isCluster } from './database/postgres/migration/feed-tables.ts';
export { migrationTimeout } from './database/postgres/migration/migration.ts';
export type { SharedTurn } from './database/queues/coalescer.ts';
export type { RunText } from './database/schema-version.ts';
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
export { createLane, type Lane } from './plants/lane.ts';
export { createPlantStatements, idsOf, type PlantStatements } from './plants/statements.ts';
