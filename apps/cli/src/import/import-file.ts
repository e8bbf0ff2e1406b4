import { addAbortSignal, type Readable } from 'node:stream';
import { type PlantStore, PlantStoreError } from '@plant-store/core';
import { CommandError, exitCodes, usageError } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';
import { readLines } from '../formats/lines.ts';
import { type FormatName, formatOf, plantFormats } from '../formats/plant-formats.ts';
import { type Interruption, listenForInterruption } from './interruption.ts';
import { type ImportCounts, loadRows, nothingCounted, type RejectedRow } from './load-rows.ts';
import { type ImportProgress, showProgress } from './progress.ts';
import { createRejectsFile } from './rejects-file.ts';
import { isSameFile, openSource } from './source.ts';
import { formatSummary } from './summary.ts';

export interface ImportOptions {
  /** Default: by the file's extension. */
  format?: FormatName;
  /** Between the fields of CSV. Default: recognized in the header. */
  delimiter?: string;
  /** The path of the rejects file. Default: the file's path and `.rejects`. */
  rejects?: string;
  /** Stops soon after the first rejected row. */
  strict?: true;
  /** Writes the summary as JSON. */
  json?: true;
}

/**
 * Imports a file, or standard input for `-`. Shows the progress on stderr, and writes a summary to
 * stdout even when the import stops early.
 *
 * @throws CommandError when the import cannot start or stops early.
 */
export async function importFile(file: string, options: ImportOptions): Promise<ImportCounts> {
  const formatName = options.format ?? formatOf(file);
  if (options.delimiter !== undefined && formatName !== 'csv') {
    throw usageError('--delimiter is for CSV: add --format csv');
  }
  const rejectsPath = options.rejects ?? `${file === '-' ? 'import' : file}.rejects`;
  if (await isSameFile(file, rejectsPath)) {
    throw usageError(`${rejectsPath} is the file to import: name another file with --rejects`);
  }
  const { input, size } = await openSource(file);
  const interruption = listenForInterruption();
  addAbortSignal(interruption.signal, input);
  const counts: ImportCounts = { ...nothingCounted };

  const { read } = plantFormats[formatName];

  const load = async (store: PlantStore) => {
    const rejectsFile = await createRejectsFile(rejectsPath);
    const started = performance.now();
    const progress = showProgress(counts, size);
    let isComplete = false;
    try {
      await loadRows({
        store,
        blocks: read(readLines(withProgress(input, progress)), {
          delimiter: options.delimiter,
          warn,
        }),
        counts,
        async onRejectedRows(rows) {
          await rejectsFile.add(rows);
          if (options.strict) throw strictError(rows);
        },
      });
      isComplete = true;
    } finally {
      progress.stop();
      const milliseconds = performance.now() - started;
      const summary = { counts, milliseconds, isComplete, rejectsPath };
      await writeOutput([formatSummary(summary, options.json ?? false)]);
    }
  };
  try {
    await withStore(load);
  } catch (error) {
    throw withHint(error, interruption);
  } finally {
    input.destroy();
  }
  return counts;
}

async function* withProgress(input: Readable, progress: ImportProgress): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    progress.addBytes(chunk.length);
    yield chunk;
  }
}

function warn(message: string): void {
  process.stderr.write(`plant-store: ${message}\n`);
}

/** Reports the first rejected row, for `--strict`. */
function strictError([row]: RejectedRow[]): CommandError {
  const { line, reason } = row ?? {};
  const message = `line ${line}: ${reason}: correct the line, then run the import again`;
  return new CommandError(message, { exitCode: exitCodes.incomplete });
}

/** Says how to complete an import that a signal or the database has stopped. */
function withHint(cause: unknown, { exitCode }: Interruption): unknown {
  const hint = 'run the import again to complete it';
  if (exitCode) return new CommandError(`interrupted: ${hint}`, { exitCode });
  if (!(cause instanceof PlantStoreError)) return cause;
  return new CommandError(`the database did not answer: ${hint}`, { cause });
}
