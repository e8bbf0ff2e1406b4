import type { Readable } from 'node:stream';
import { type Line, readText, showValue } from '@plant-store/formats';
import { openSource } from '@plant-store/formats/node';
import { explainIdText } from '@plant-store/schemas/plain';
import { exitCodes } from '../command-line/errors.ts';
import { fileSettings, inputOf, toCommandError } from '../import/file-errors.ts';

/** Some ids of a file, and the errors of the invalid lines between these ids. */
export interface IdBatch {
  ids: bigint[];
  errors: { line: number; reason: string }[];
}

/** The number of ids that one statement deletes. */
const batchSize = 1_000;

/**
 * Reads a file with an id on each line. If the name is `-`, reads standard input. Ignores blank lines, and
 * the header `id` of a CSV file.
 *
 * @throws CommandError when the file cannot be read
 */
export async function* readIds(file: string): AsyncGenerator<IdBatch> {
  let exitCode: number = exitCodes.usage;
  let input: Readable | undefined;
  try {
    ({ input } = await openSource(inputOf(file)));
    const { lines } = await readText(input, fileSettings);
    exitCode = exitCodes.error;
    yield* batchesOf(lines);
  } catch (error) {
    throw toCommandError(error, exitCode);
  } finally {
    input?.destroy(); // An open standard input would keep the process alive.
  }
}

async function* batchesOf(lines: AsyncIterable<Line[]>): AsyncGenerator<IdBatch> {
  let batch: IdBatch = { ids: [], errors: [] };
  let line = 0;
  let isFirst = true;
  for await (const block of lines) {
    for (const text of block) {
      line++;
      const value = idTextOf(text);
      if (value === '') continue;
      const isHeader = isFirst && /^id$/i.test(value);
      isFirst = false;
      if (isHeader) continue;
      const reason = typeof text === 'string' ? explainIdText(value) : text.reason;
      if (reason === undefined) batch.ids.push(BigInt(value));
      else batch.errors.push({ line, reason: `${showValue(value)} is not an id: it ${reason}` });
      if (batch.ids.length + batch.errors.length < batchSize) continue;
      yield batch;
      batch = { ids: [], errors: [] };
    }
  }
  yield batch;
}

/** Returns the text of a line without the quotes that a program may write around a CSV field. */
function idTextOf(line: Line): string {
  const text = typeof line === 'string' ? line : line.text || '?';
  return text.trim().replace(/^"(.*)"$/, '$1');
}
