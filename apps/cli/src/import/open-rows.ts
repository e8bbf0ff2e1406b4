import type { Readable } from 'node:stream';
import {
  type Encoding,
  type FormatName,
  formatOf,
  type RowBlock,
  readPlants,
} from '@plant-store/formats';
import { CommandError, usageError } from '../command-line/errors.ts';
import { advice, asCommandError, decompressors } from './file-reading.ts';

export const createdAtChoices = ['keep', 'now'] as const;

export interface ReadFileOptions {
  /** Default: the format that belongs to the file's extension. */
  format?: FormatName;
  /** The delimiter of a CSV file. By default, the import recognizes the delimiter in the header. */
  delimiter?: string;
  /** Default: the encoding of the byte order mark, or UTF-8 if there is no mark. */
  encoding?: Encoding;
  /** Whether plants keep the creation time from the file. */
  createdAt?: (typeof createdAtChoices)[number];
}

/**
 * Checks the options for a file before the file is opened, and returns the format. The default format of
 * standard input (`-`) is NDJSON, as for `export`.
 */
export function formatByOptions(file: string, { format, delimiter }: ReadFileOptions): FormatName {
  const name = format ?? (file === '-' ? 'ndjson' : formatByExtension(file));
  if (delimiter === undefined || name === 'csv') return name;
  throw usageError('--delimiter is for CSV: add --format csv');
}

function formatByExtension(file: string): FormatName {
  try {
    return formatOf(file, 'add --format ndjson or --format csv');
  } catch (error) {
    throw asCommandError(error);
  }
}

/**
 * Opens a file, and reads the first rows to find out whether the file is readable at all.
 *
 * @returns all rows
 * @throws CommandError when the file cannot be read at all
 */
export async function openRows(
  input: Readable,
  format: FormatName,
  options: ReadFileOptions,
): Promise<AsyncGenerator<RowBlock>> {
  try {
    return await readPlants(input, format, { ...options, decompressors, advice, warn });
  } catch (error) {
    if (!(error instanceof CommandError)) throw asCommandError(error);
    throw usageError(error.message, { cause: error.cause });
  }
}

function warn(message: string): void {
  process.stderr.write(`plant-store: ${message}\n`);
}
