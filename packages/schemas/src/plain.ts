// These exports do not load zod, so that programs start fast.
export { errorAdvice } from './errors/error-advice.ts';
export {
  type ErrorCode,
  type ErrorKind,
  errorCatalogue,
  errorKind,
  errorKinds,
  httpStatus,
  isTemporary,
} from './errors/error-catalogue.ts';
export { explainIdText, readIdText } from './ids/explain-id-text.ts';
export { int64Bounds, isInt64 } from './ids/int64-range.ts';
export { type ExactIds, exactFetch } from './json/exact-fetch.ts';
export { formatJson } from './json/format-json.ts';
export { isExact, parseJson } from './json/parse-json.ts';
export {
  defaultPageSize,
  maxBatchCalls,
  maxExactCount,
  maxNewPlants,
  maxPageSize,
  maxSearch,
  maxWait,
} from './limits.ts';
export { type Operation, operations } from './operations.ts';
export {
  type ColumnKind,
  columnText,
  columnValue,
  type PlantField,
  plantColumns,
  plantFields,
} from './plant-columns.ts';
export { isScope, type Scope, scopes } from './scopes.ts';
export { shorten } from './shorten.ts';
