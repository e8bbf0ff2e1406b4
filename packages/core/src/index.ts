export type { AccessToken } from './access-tokens/access-token-table.ts';
export { type AccessTokens, createToken } from './access-tokens/access-tokens.ts';
export { DataDirectoryError } from './database/embedded/data-directory-lock.ts';
export { sqlState } from './database/database-error.ts';
export { DatabaseSettingsError } from './database/database-settings-error.ts';
export { deadline } from './database/timeout.ts';
export { type DatabaseState, inspectDatabase } from './database/inspect-database.ts';
export type { LoadOutcome } from './plants/plant-loader.ts';
export type { PlantQuery, StoredPlant } from './plants/plant-reader.ts';
export { openPlantStore, type PlantStore, type PlantStoreOptions } from './plant-store.ts';
export { PlantStoreError, toPlantStoreError } from './plant-store-error.ts';
export {
  type Authentication,
  createPrincipalCache,
  type Finding,
  type Principal,
} from './access-tokens/principal-cache.ts';
export { type AppRouter, appRouter, createCaller } from './procedures/router.ts';
export type { Context } from './procedures/trpc.ts';
export type { BatchListener } from './plants/write-batcher.ts';
