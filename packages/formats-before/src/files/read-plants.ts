import { readCsv } from '../csv/reader.ts';
import { readNdjson } from '../ndjson/reader.ts';
import type { FormatName } from '../rows/format-names.ts';
import type { ReadOptions, RowBlock } from '../rows/row.ts';
import { defaultAdvice } from '../text/file-error.ts';
import { readText, type TextOptions } from '../text/read-text.ts';

export interface ReadPlantsOptions
  extends TextOptions,
    Omit<ReadOptions, 'lineEnd' | 'advice' | 'warn'> {
  /** Receives a warning about a likely mistake in the file. Default: `console.warn`. */
  warn?: ((message: string) => void) | undefined;
}

const readers = { ndjson: readNdjson, csv: readCsv };

/**
 * Reads the rows of a file. An unreadable row contains an error. `readPlants` reads the first rows
 * immediately, and throws when the whole file is unreadable.
 *
 * @throws FileError when the file cannot be read
 */
export async function readPlants(
  file: AsyncIterable<Uint8Array>,
  format: FormatName,
  { advice = defaultAdvice, warn = console.warn, ...options }: ReadPlantsOptions = {},
): Promise<AsyncGenerator<RowBlock>> {
  const { lines, lineEnd } = await readText(file, { ...options, advice });
  const blocks = readers[format](lines, { ...options, advice, warn, lineEnd });
  return withFirst(await blocks.next(), blocks);
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
