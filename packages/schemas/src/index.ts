export { maxBatchSize } from './batch-size.ts';
export { ErrorBody } from './error-body.ts';
export {
  type ErrorKind,
  type ErrorNumber,
  errorCatalogue,
  httpStatus,
} from './error-catalogue.ts';
export { formatJson } from './format-json.ts';
export { Int64 } from './int64.ts';
export { refuseDeepJson } from './json-depth.ts';
export { isExact, parseJson } from './parse-json.ts';
export { NewPlant, Plant } from './plant.ts';
