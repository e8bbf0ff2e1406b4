// What needs no zod, for programs that must start fast.
export { maxBatchSize } from './batch-size.ts';
export {
  type ErrorCode,
  type ErrorKind,
  errorCatalogue,
  errorKinds,
  httpStatus,
} from './error-catalogue.ts';
export { formatJson } from './format-json.ts';
export { explainIdText } from './id-text.ts';
export { int64Bounds } from './int64-range.ts';
export { checkJsonDepth } from './json-depth.ts';
export { defaultPageSize, maxPageSize } from './page-size.ts';
export { isExact, parseJson } from './parse-json.ts';
export { isScope, type Scope, scopes } from './scopes.ts';
