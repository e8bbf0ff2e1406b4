import { extname } from 'node:path';
import type { NewPlant } from '@plant-store/schemas';
import { formatJson } from '@plant-store/schemas';
import { usageFailure } from '../command-line/errors.ts';
import { readCsv } from './csv/reader.ts';
import { csvHeader, csvLine } from './csv/writer.ts';
import type { Line } from './lines.ts';
import { readNdjson } from './ndjson.ts';
import type { Row } from './row.ts';

interface PlantFormat {
  /** Makes rows of a file's lines. */
  read(lines: AsyncIterable<Line[]>): AsyncGenerator<Row[]>;
  /** What stands above the plants. */
  header: string;
  write(plant: NewPlant): string;
}

export const plantFormats = {
  ndjson: { read: readNdjson, header: '', write: (plant) => `${formatJson(plant)}\n` },
  csv: { read: readCsv, header: csvHeader, write: csvLine },
} satisfies Record<string, PlantFormat>;

export type FormatName = keyof typeof plantFormats;

export const formatNames = ['ndjson', 'csv'] as const satisfies FormatName[];

const extensions: Record<string, FormatName> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
};

/** The format of a file by its name; standard input is what `export` writes when it is not told. */
export function formatOf(file: string): FormatName {
  const format = file === '-' ? 'ndjson' : extensions[extname(file).toLowerCase()];
  if (!format) {
    throw usageFailure(`the format of ${file} is not clear: add --format ndjson or --format csv`);
  }
  return format;
}
