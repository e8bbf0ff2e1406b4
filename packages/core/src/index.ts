export type { StoredPlant } from '@plant-store/schemas';
export type { AccessToken } from './access-tokens/access-token-table.ts';
export type { AccessTokens, NewTokenOptions } from './access-tokens/access-tokens.ts';
export type { Authentication, Principal } from './access-tokens/principal.ts';
export type { NodeDetour, NodeState } from './cluster/node-health.ts';
export {
  ClusterError,
  type DistributeOptions,
  type DistributeResult,
  type Distribution,
  type DistributionStep,
} from './cluster/operator/distribute.ts';
export type { ClusterState } from './cluster/operator/inspect-cluster.ts';
export { distributePlants, inspectCluster } from './cluster/operator.ts';
export type { OpenOptions } from './database/database.ts';
export { explainDatabaseError } from './database/database-remedy.ts';
export { DatabaseSettingsError } from './database/database-settings-error.ts';
export { databaseUrlSyntax, isDatabaseUrl } from './database/database-url.ts';
export type { Caller, CallOptions, Deadline } from './database/deadline.ts';
export { DataDirectoryError } from './database/embedded/data-directory-error.ts';
export { type DatabaseState, inspectDatabase } from './database/inspection/inspect-database.ts';
export type { Lock } from './database/inspection/locks.ts';
export { missingGrants, type Right, type TableRights } from './database/inspection/rights.ts';
export type { TableFault } from './database/inspection/table-check.ts';
export type { TableDistribution } from './database/inspection/table-distribution.ts';
export type { DatabaseOptions } from './database/open-database.ts';
export { openPlantStore, type PlantStore, type StoreEvents } from './plant-store.ts';
export { PlantStoreError, type PlantStoreErrorKind } from './plant-store-error.ts';
export { checkPlant } from './plants/bulk/loaded-plant.ts';
export {
  type ExportColumn,
  type ExportQuery,
  exportColumns,
  type PlantExport,
} from './plants/bulk/plant-exporter.ts';
export type { LoadOutcome } from './plants/bulk/plant-loader.ts';
export type { ManyCreatesOutcome } from './plants/create-many.ts';
export type { CreateOptions } from './plants/lane.ts';
export type { PlantQuery } from './plants/plant-reader.ts';
