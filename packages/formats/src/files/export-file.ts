import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { plantColumns } from '@plant-store/schemas/plain';
import { type FormatName, formatOf } from '../rows/format-names.ts';
import { createNdjsonConverter } from './copied-ndjson.ts';

type ColumnName = (typeof plantColumns)[keyof typeof plantColumns]['name'];

const allColumns = Object.values(plantColumns).map(({ name }) => name);

interface ExportQuery {
  /** Default: all columns. */
  readonly columns?: readonly ColumnName[] | undefined;
  /** Selects only plants with this tag. */
  readonly tag?: string | undefined;
  /** Selects only plants that were created at this time or later. */
  readonly since?: Date | undefined;
  /** Whether the export reads the plants page by page instead of in one snapshot. */
  readonly isPaged?: boolean | undefined;
}

/** A store of plants, such as the result of `openPlantStore` of `@plant-store/core`. */
export interface PlantSource {
  export(query: ExportQuery & { readonly format: 'csv' | 'text' }): Promise<{
    readonly estimate: number | undefined;
    readonly rows: AsyncIterable<Uint8Array>;
    close(): Promise<void>;
  }>;
}

export interface ExportFileOptions extends ExportQuery {
  /** Default: the format that belongs to the file's extension, and NDJSON for a stream. */
  readonly format?: FormatName | undefined;
  /** Whether to compress the output. Default: `true` if the file's extension is `.gz`. */
  readonly gzip?: boolean | undefined;
  /** Stops the export. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the number of rows so far, and the approximate number of all rows. */
  readonly onProgress?: ((rows: number, estimate: number | undefined) => void) | undefined;
}

/**
 * Exports the plants of a store into a file or a stream. `importFile` restores exactly the exported plants.
 * A file has the extension `.incomplete` until the file is complete. This function does not end a stream.
 *
 * @throws FileError when the extension of the file is unknown. Also throws errors of the store and the disk.
 */
export async function exportFile(
  store: PlantSource,
  file: string | Writable,
  options: ExportFileOptions = {},
): Promise<void> {
  if (typeof file !== 'string') return writePlants(store, file, options);
  const format = options.format ?? formatOf(file, "set the option `format` to 'ndjson' or 'csv'");
  const gzip = options.gzip ?? /\.gz$/i.test(file);
  const incomplete = `${file}.incomplete`;
  try {
    await writePlants(store, incomplete, { ...options, format, gzip });
    await rename(incomplete, file);
  } catch (error) {
    await rm(incomplete, { force: true });
    throw error;
  }
}

async function writePlants(
  store: PlantSource,
  file: string | Writable,
  {
    format = 'ndjson',
    gzip,
    signal,
    onProgress,
    columns = allColumns,
    ...query
  }: ExportFileOptions,
): Promise<void> {
  const { header, source, createConverter } = exportFormats[format];
  const { estimate, rows, close } = await store.export({ ...query, columns, format: source });
  const convert = createConverter(columns);
  const count = onProgress && rowCounter(source);

  async function* output() {
    yield new TextEncoder().encode(header(columns));
    for await (const block of rows) {
      if (count) onProgress(count(block), estimate);
      yield convert(block);
    }
  }

  try {
    const isPath = typeof file === 'string';
    const stream = isPath ? createWriteStream(file) : file;
    const options = { end: isPath, ...(signal && { signal }) };
    if (gzip) await pipeline(output, createGzip(), stream, options);
    else await pipeline(output, stream, options);
  } finally {
    await close();
  }
}

interface ExportFormat {
  /** The text before the first plant. */
  header(columns: readonly ColumnName[]): string;
  /** The format of the store's output, which the converter reads. */
  source: 'csv' | 'text';
  createConverter(columns: readonly ColumnName[]): (block: Uint8Array) => Uint8Array;
}

/** The conversions from the output of the store to a file. The CSV of Postgres needs no conversion. */
const exportFormats: Readonly<Record<FormatName, ExportFormat>> = {
  ndjson: { header: () => '', source: 'text', createConverter: createNdjsonConverter },
  csv: {
    header: (columns) => `${columns.join(',')}\n`,
    source: 'csv',
    createConverter: () => (block) => block,
  },
};

/** Counts the rows in the output of the store. In CSV, a newline in quotes does not end a row. */
function rowCounter(format: 'csv' | 'text'): (block: Uint8Array) => number {
  let rows = 0;
  let isInQuotes = false;
  return (block) => {
    for (const byte of block) {
      if (byte === newline && !isInQuotes) rows++;
      else if (byte === quote && format === 'csv') isInQuotes = !isInQuotes;
    }
    return rows;
  };
}

const [newline, quote] = [0x0a, 0x22] as const;
