export type { AppRouter } from './app-router.ts';
export {
  createPlantStoreClient,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from './client.ts';
export { AccessTokenError, isRetryable, type PlantStoreError, plantStoreError } from './errors.ts';
export {
  allPlants,
  followChanges,
  followPlants,
  type PlantChanges,
  type PlantPage,
  type PlantQuery,
  type StoredPlant,
} from './follow.ts';
export { followPlantPages, plantPages, queryDefaults } from './tanstack.ts';
