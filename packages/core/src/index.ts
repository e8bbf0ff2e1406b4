export type { StoredPlant } from '@plant-store/schemas';
export type { AccessToken } from './access-tokens/access-token-table.ts';
export type { AccessTokens, NewTokenOptions } from './access-tokens/access-tokens.ts';
export type { Authentication, Principal } from './access-tokens/principal.ts';
export { DatabaseSettingsError } from './database/database-settings-error.ts';
export { databaseUrlSyntax, isDatabaseUrl } from './database/database-url.ts';
export { DataDirectoryError } from './database/embedded/data-directory-lock.ts';
export { type DatabaseState, inspectDatabase } from './database/inspect-database.ts';
export type { DatabaseOptions } from './database/open-database.ts';
export { openPlantStore, type PlantStore } from './plant-store.ts';
export { PlantStoreError, type PlantStoreErrorKind } from './plant-store-error.ts';
export { checkPlant } from './plants/bulk/loaded-plant.ts';
export {
  type ExportColumn,
  type ExportQuery,
  exportColumns,
  type PlantExport,
} from './plants/bulk/plant-exporter.ts';
export type { LoadOutcome } from './plants/bulk/plant-loader.ts';
export type { CallOptions, Deadline } from './plants/deadline.ts';
export type { PlantQuery } from './plants/read/plant-reader.ts';
export type { StoreEvents } from './plants/write/write-batcher.ts';
