export { ErrorBody } from './error-body.ts';
export { IdFromText, IntegerText } from './ids/id-from-text.ts';
export { Int64 } from './ids/int64.ts';
export * from './plain.ts';
export { NewPlant, Plant } from './plant.ts';
export { ListPlants, PlantId, PlantPage, StoredPlant } from './stored-plant.ts';
