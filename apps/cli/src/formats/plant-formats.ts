import { extname } from 'node:path';
import type { NewPlant } from '@plant-store/schemas';
import { usageError } from '../command-line/errors.ts';
import { readCsv } from './csv/reader.ts';
import { csvHeader, writeCsv } from './csv/writer.ts';
import { readNdjson, writeNdjson } from './ndjson.ts';
import type { ReadOptions, RowBlock } from './row.ts';
import type { Line } from './text/lines.ts';

interface PlantFormat {
  /** Parses blocks of lines into rows. */
  read(blocks: AsyncIterable<Line[]>, options: ReadOptions): AsyncGenerator<RowBlock>;
  /** The text before the first plant. */
  header: string;
  /** Formats one plant, with the newline after it. */
  write(plant: NewPlant): string;
}

export const plantFormats = {
  ndjson: { read: readNdjson, header: '', write: writeNdjson },
  csv: { read: readCsv, header: csvHeader, write: writeCsv },
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
