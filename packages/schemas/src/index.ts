export { maxBatchSize } from './batch-size.ts';
export { ErrorBody } from './error-body.ts';
export {
  type ErrorCode,
  type ErrorKind,
  errorCatalogue,
  errorKinds,
  httpStatus,
} from './error-catalogue.ts';
export { formatJson } from './format-json.ts';
export { IdFromText, IntegerText } from './id-from-text.ts';
export { Int64, int64Bounds } from './int64.ts';
export { checkJsonDepth } from './json-depth.ts';
export { isExact, parseJson } from './parse-json.ts';
export { NewPlant, Plant } from './plant.ts';
export { isScope, type Scope, scopes } from './scopes.ts';
export {
  defaultPageSize,
  ListPlants,
  maxPageSize,
  PlantId,
  PlantPage,
  StoredPlant,
} from './stored-plant.ts';
