export { AccessTokenError } from './access-token.ts';
export { allPlants, type PlantQuery, type StoredPlant } from './all-plants.ts';
export type { AppRouter } from './app-router.ts';
export {
  type FollowChangesOptions,
  followChanges,
  type PlantChanges,
} from './follow-changes.ts';
export { type FollowPlantsOptions, followPlants } from './follow-plants.ts';
export {
  createPlantStoreClient,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from './plant-store-client.ts';
export {
  isRetryable,
  type PlantStoreError,
  plantStoreError,
} from './plant-store-error.ts';
export {
  type FollowPlantPagesOptions,
  followPlantPages,
  type PlantPage,
  type PlantPagesQuery,
  plantPages,
} from './tanstack/plant-pages.ts';
export { deserialize, hashQueryKey, queryDefaults, serialize } from './tanstack/query-defaults.ts';
