/** The exports of core for @plant-store/citus. */
export {
  type Cursor,
  cursorOf,
  logOf,
  type Position,
  transactionBits,
  withParts,
} from './changes/cursor.ts';
export { isOwn, ownFeed, timeline } from './changes/epoch/epoch.ts';
export { cursorExpired, noFeedOnCluster } from './changes/feed-errors.ts';
export { type ChangePage, createChangeReader } from './changes/read-changes.ts';
export { changesIn, isReplacement, pageOf } from './changes/select-changes.ts';
export {
  type ConnectTo,
  type Database,
  type DatabaseConnection,
  lateCommit,
  type NodeConnections,
  type PoolState,
} from './database/database.ts';
export {
  databaseUnavailable,
  isCancelled,
  isDataError,
  isLateWrite,
  lateWrite,
  lateWriteError,
} from './database/database-error.ts';
export { type CallOptions, deadlineIn, defaultTimeout, withTimeout } from './database/deadline.ts';
export { ConnectionPool } from './database/pool/connection-pool.ts';
export { type Query, send } from './database/query.ts';
export { createVerbs, type Share, type Verbs } from './database/verbs.ts';
export { databaseCode, rootMessage } from './error-causes.ts';
export type {
  Cluster,
  ClusterEvents,
  ClusterStore,
  ClusterWatch,
  NodeReroute,
  NodeState,
  StoreLanes,
} from './group-commit/cluster.ts';
export type { SharedTurn } from './group-commit/coalescer.ts';
export { createLane, type Lane } from './group-commit/lane.ts';
export { type FeedState, lookAgain, readOldest } from './inspection/feed-state.ts';
export { PlantStoreError } from './plant-store-error.ts';
export { columnArrays, contentColumns, contentValues, storedColumns } from './plants/columns.ts';
export { deleteAdvice } from './plants/create-errors.ts';
export { columnsJson } from './plants/plant-json.ts';
export type { CountUpTo } from './plants/plant-reader.ts';
export {
  createPlantStatements,
  hasMoved,
  idsOf,
  type PlantStatements,
} from './plants/statements.ts';
export { createConnectToPrimary } from './postgres/connect-to-primary.ts';
export { type Connection, connectPostgres } from './postgres/connection.ts';
export { migrationTimeout } from './tables/schema-version.ts';
export { tableOids } from './tables/table-check.ts';
export { isCluster } from './tables/tables.ts';
