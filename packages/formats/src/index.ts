export { columnNames, type Delimiter } from './csv.ts';
export { FileError } from './file-error.ts';
export { type Encoding, encodings } from './lines.ts';
export { plantWriter, type WritablePlant } from './plant-writer.ts';
export { type FileFacts, type Format, type PlantFile, readRows } from './read-rows.ts';
export type { Row } from './row.ts';
