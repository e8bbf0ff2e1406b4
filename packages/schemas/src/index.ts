export { ErrorBody } from './error-body.ts';
export { IdFromText, IntegerText } from './id-from-text.ts';
export { Int64 } from './int64.ts';
export * from './plain.ts';
export { NewPlant, Plant } from './plant.ts';
export { ListPlants, PlantId, PlantPage, StoredPlant } from './stored-plant.ts';
