export { cursorsOf } from './changes/kept-pages.ts';
export type { FollowOptions, PlantFeed } from './changes/plant-feed.ts';
export {
  databaseUrlSyntax,
  describeDatabaseUrl,
  isDatabaseUrl,
  withoutPassword,
} from './database/database-url.ts';
export { DataDirectoryError } from './database/embedded/lock.ts';
export { DatabaseSettingsError } from './database/errors.ts';
export type { DatabaseOptions } from './database/open-database.ts';
export { type OpenPlantReader, openPlantReader } from './open-plant-reader.ts';
export { PlantStoreError, type PlantStoreErrorKind } from './plant-store-error.ts';
export type { PlantQuery, PlantReader } from './plants/plant-reader.ts';
