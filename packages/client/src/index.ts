export { type AppRouter, createPlantStoreClient, type PlantStoreClient } from './client.ts';
export { isRetryable, type PlantStoreError, plantStoreError } from './errors.ts';
export { allPlants, followChanges, followPlants, type PlantQuery } from './follow.ts';
export { followPlantPages, plantPages, queryDefaults } from './tanstack.ts';
