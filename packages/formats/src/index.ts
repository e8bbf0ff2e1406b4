export { columnNames, plantWriter } from './csv.ts';
export { EncodingError, FileError } from './lines.ts';
export { type FileFacts, readRows } from './read-rows.ts';
export type { Row } from './row.ts';
