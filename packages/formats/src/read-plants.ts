import { readCsv } from './csv/reader.ts';
import { readNdjson } from './ndjson/reader.ts';
import type { FormatName } from './rows/format-names.ts';
import type { ReadOptions, RowBlock } from './rows/row.ts';
import { readText, type TextOptions } from './text/read-text.ts';

export type ReadPlantsOptions = TextOptions & Omit<ReadOptions, 'lineEnd'>;

const readers = { ndjson: readNdjson, csv: readCsv };

/**
 * Reads the plants of a file, line by line. Each line is part of a count or of a row. An unreadable row
 * contains an error. `readPlants` reads the first rows immediately, so it throws when the file is not
 * readable at all.
 *
 * @throws FileError when the file cannot be read
 */
export async function readPlants(
  file: AsyncIterable<Uint8Array>,
  format: FormatName,
  options: ReadPlantsOptions,
): Promise<AsyncGenerator<RowBlock>> {
  const { lines, lineEnd } = await readText(file, options);
  const blocks = readers[format](lines, { ...options, lineEnd });
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
