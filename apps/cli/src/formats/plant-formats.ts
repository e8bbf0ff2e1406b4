import { extname } from 'node:path';
import type { ExportColumn, ExportQuery } from '@plant-store/core';
import { usageError } from '../command-line/errors.ts';
import { createNdjsonWriter } from './copied/ndjson-rows.ts';
import { readCsv } from './csv/reader.ts';
import { readNdjson } from './ndjson.ts';
import type { ReadOptions, RowBlock } from './row.ts';
import type { Line } from './text/lines.ts';

interface PlantFormat {
  /** Parses blocks of lines into rows. */
  read(blocks: AsyncIterable<Line[]>, options: ReadOptions): AsyncGenerator<RowBlock>;
  /** The text before the first plant of an export. */
  header(columns: readonly ExportColumn[]): string;
  /** The format in which the store exports plants for this one. */
  source: NonNullable<ExportQuery['format']>;
  /** Makes a function that converts what the store exports. */
  createWriter(columns: readonly ExportColumn[]): (block: Uint8Array) => Uint8Array;
}

export const plantFormats = {
  ndjson: {
    read: readNdjson,
    header: () => '',
    source: 'text',
    createWriter: createNdjsonWriter,
  },
  csv: {
    read: readCsv,
    header: (columns) => `${columns.join(',')}\n`,
    source: 'csv',
    createWriter: () => (block) => block,
  },
} satisfies Record<string, PlantFormat>;

export type FormatName = keyof typeof plantFormats;

export const formatNames = ['ndjson', 'csv'] as const satisfies FormatName[];

const extensions: Record<string, FormatName> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.tab': 'csv',
};

/**
 * The format that a file's extension stands for, before `.gz`, `.zst` or `.rejects`. Standard input (`-`) is NDJSON, the default of
 * `export`.
 *
 * @throws CommandError when the extension is unknown.
 */
export function formatOf(file: string): FormatName {
  const format =
    file === '-'
      ? 'ndjson'
      : extensions[extname(file.replace(/(\.(gz|zst|zstd|rejects))+$/i, '')).toLowerCase()];
  if (!format) {
    throw usageError(`the format of ${file} is unknown: add --format ndjson or --format csv`);
  }
  return format;
}
