export type { PlantChange, PlantChanges, StoredPlant } from '@plant-store/schemas';
export type { AccessToken } from './access-tokens/access-token-table.ts';
export type { AccessTokens, NewTokenOptions } from './access-tokens/access-tokens.ts';
export type { Authentication, Principal } from './access-tokens/principal.ts';
export type { FollowOptions, PlantFeed } from './changes/plant-feed.ts';
export type { OpenOptions } from './database/database.ts';
export type { Caller, CallOptions, Deadline } from './database/deadline.ts';
export { DataDirectoryError } from './database/embedded/data-directory-error.ts';
export { DatabaseSettingsError } from './database/explain-database-error.ts';
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
export type {
  Cluster,
  NodeReroute,
  NodeState,
  StoreOptions as DatabaseOptions,
} from './plants/cluster.ts';
export type { ManyCreatesOutcome } from './plants/create-many.ts';
export type { CreateOptions } from './plants/lane.ts';
export type { PlantQuery } from './plants/plant-reader.ts';
