export {
  createPlantStoreClient,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from './plant-store-client.ts';
export { type PlantStoreClientError, plantStoreError } from './plant-store-error.ts';
