// The exports for Node, which has files, streams and zlib.
export { decompressors } from './files/decompressors.ts';
export {
  type ExportFileOptions,
  exportFile,
  type PlantSource,
} from './files/export-file.ts';
export {
  type ImportFileOptions,
  importFile,
  openPlantFile,
  type PlantFile,
  type ReadFileOptions,
} from './files/import-file.ts';
export {
  type ImportCounts,
  loadRows,
  nothingCounted,
  type RejectedRow,
  type RowStore,
} from './files/load-rows.ts';
export { openSource } from './files/source.ts';
