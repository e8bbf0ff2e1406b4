export type { FollowOptions, PlantFeed, ResumableChanges } from './changes/plant-feed.ts';
export {
  databaseUrlSyntax,
  describeDatabaseUrl,
  isDatabaseUrl,
  parseDatabaseUrl,
  withoutPassword,
} from './database/database-url.ts';
export { DataDirectoryError } from './database/embedded/data-directory-error.ts';
export { DatabaseSettingsError } from './database/explain-database-error.ts';
export { type OpenPlantReader, openPlantReader } from './open-plant-reader.ts';
export { PlantStoreError, type PlantStoreErrorKind } from './plant-store-error.ts';
export type { StoreOptions as DatabaseOptions } from './plants/cluster.ts';
export type { PlantQuery, PlantReader } from './plants/plant-reader.ts';
