export type { AppRouter } from './app-router.ts';
export {
  AccessTokenError,
  createPlantStoreClient,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from './client.ts';
export { isRetryable, type PlantStoreError, plantStoreError } from './errors.ts';
export {
  allPlants,
  type FollowChangesOptions,
  type FollowPlantsOptions,
  followChanges,
  followPlants,
  type PlantChanges,
  type PlantQuery,
  type StoredPlant,
} from './follow.ts';
export {
  type FollowPlantPagesOptions,
  followPlantPages,
  type PlantPage,
  type PlantPagesQuery,
  plantPages,
  queryDefaults,
} from './tanstack.ts';
