export type { AccessToken } from './access-token-table.ts';
export { type AccessTokens, createToken } from './access-tokens.ts';
export { DataDirectoryError } from './data-directory-lock.ts';
export { sqlState } from './database-error.ts';
export { DatabaseSettingsError } from './database-settings-error.ts';
export { deadline } from './deadline.ts';
export { type DatabaseState, inspectDatabase } from './inspect-database.ts';
export type { LoadOutcome } from './plant-loader.ts';
export type { PlantQuery, StoredPlant } from './plant-reader.ts';
export { openPlantStore, type PlantStore, type PlantStoreOptions } from './plant-store.ts';
export { PlantStoreError, toPlantStoreError } from './plant-store-error.ts';
export {
  type Authentication,
  createPrincipalCache,
  type Finding,
  type Principal,
} from './principal-cache.ts';
export { type AppRouter, appRouter, createCaller } from './router.ts';
export type { Context } from './trpc.ts';
export type { BatchListener } from './write-batcher.ts';
