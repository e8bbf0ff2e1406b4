import type { Readable } from 'node:stream';
import { CommandError, exitCodes, usageError } from '../command-line/errors.ts';
import { type FormatName, formatOf, plantFormats } from '../formats/plant-formats.ts';
import type { RowBlock } from '../formats/row.ts';
import type { Encoding } from '../formats/text/encoding.ts';
import { readText } from '../formats/text/read-text.ts';

export const createdAtChoices = ['keep', 'now'] as const;

export interface ReadFileOptions {
  /** Default: by the file's extension. */
  format?: FormatName;
  /** Between the fields of CSV. Default: recognized in the header. */
  delimiter?: string;
  /** Default: by the byte order mark, otherwise UTF-8. */
  encoding?: Encoding;
  /** Whether plants keep the time of the file at which they were created. */
  createdAt?: (typeof createdAtChoices)[number];
}

/** Checks the options for a file, before the file is opened. */
export function formatByOptions(file: string, { format, delimiter }: ReadFileOptions): FormatName {
  const name = format ?? formatOf(file);
  if (delimiter === undefined || name === 'csv') return name;
  throw usageError('--delimiter is for CSV: add --format csv');
}

/**
 * Reads the first rows of a file, which shows whether the file can be read at all.
 *
 * @returns all rows
 * @throws CommandError when the file cannot be read at all
 */
export async function openRows(
  input: Readable,
  format: FormatName,
  { delimiter, encoding, createdAt }: ReadFileOptions,
): Promise<AsyncGenerator<RowBlock>> {
  try {
    const { lines, lineEnd } = await readText(input, encoding);
    const blocks = plantFormats[format].read(lines, { delimiter, lineEnd, createdAt, warn });
    return withFirst(await blocks.next(), blocks);
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode === exitCodes.usage) throw error;
    throw usageError(error.message, { cause: error.cause });
  }
}

async function* withFirst<T>({ value, done }: IteratorResult<T>, rest: AsyncGenerator<T>) {
  if (done) return;
  try {
    yield value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

function warn(message: string): void {
  process.stderr.write(`plant-store: ${message}\n`);
}
