export { columnNames, type Delimiter } from './csv.ts';
export { type Encoding, encodings, FileError } from './lines.ts';
export { plantWriter, type WritablePlant } from './plant-writer.ts';
export { type FileFacts, type Format, type PlantFile, readRows } from './read-rows.ts';
export type { Row } from './row.ts';
