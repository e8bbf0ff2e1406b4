import { addAbortSignal, type Readable } from 'node:stream';
import { type FormatName, formatOf } from '../rows/format-names.ts';
import type { RowBlock } from '../rows/row.ts';
import { defaultAdvice, FileError } from '../text/file-error.ts';
import { decompressors } from './decompressors.ts';
import { type ImportCounts, loadRows, type RejectedRow, type RowStore } from './load-rows.ts';
import { type ReadPlantsOptions, readPlants } from './read-plants.ts';
import { openSource, type Source } from './source.ts';

export interface ReadFileOptions extends ReadPlantsOptions {
  /** Default: the format that belongs to the file's extension, and NDJSON for a stream. */
  format?: FormatName | undefined;
  /** Stops reading. */
  signal?: AbortSignal | undefined;
}

export interface ImportFileOptions extends ReadFileOptions {
  /**
   * Receives the rejected rows. If this function throws, the import stops. The store may already have stored
   * rows that come later in the file.
   */
  onRejectedRows?: (rows: RejectedRow[]) => Promise<void> | void;
}

/**
 * Imports the plants of a file into a store. The file is NDJSON or CSV, and may be compressed by gzip or
 * zstd. After an interruption, a second import of the file stores the missing plants.
 *
 * @throws FileError when the file cannot be read. Also throws the errors of the store.
 */
export async function importFile(
  store: RowStore,
  file: string | Readable,
  { onRejectedRows = () => {}, ...options }: ImportFileOptions = {},
): Promise<ImportCounts> {
  const { blocks, input } = await openPlantFile(file, options);
  try {
    return await loadRows({ store, blocks, onRejectedRows });
  } finally {
    input.destroy();
  }
}

/** An open file of plants. `blocks` yields the rows. The caller must destroy `input`. */
export interface PlantFile extends Source {
  readonly blocks: AsyncGenerator<RowBlock>;
}

/**
 * Opens a file, and reads the first rows to find out whether the file is readable at all.
 *
 * @throws FileError when the file cannot be read
 */
export async function openPlantFile(
  file: string | Readable,
  options: ReadFileOptions = {},
): Promise<PlantFile> {
  const { advice = defaultAdvice, signal } = options;
  const name = typeof file === 'string' ? file : 'stream.ndjson';
  const format = options.format ?? formatOf(name, `${advice.ndjson} or ${advice.csv}`);
  if (options.delimiter !== undefined && format !== 'csv') {
    throw new FileError(`only CSV has a delimiter: ${advice.csv}`);
  }
  const source = await openSource(file, signal);
  if (signal) addAbortSignal(signal, source.input);
  try {
    const blocks = await readPlants(source.input, format, { decompressors, ...options });
    return { ...source, blocks };
  } catch (error) {
    source.input.destroy();
    throw error;
  }
}
