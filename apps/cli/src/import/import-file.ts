import { addAbortSignal } from 'node:stream';
import { type PlantStore, PlantStoreError } from '@plant-store/core';
import { CommandError, exitCodes, usageError } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';
import type { RowBlock } from '../formats/row.ts';
import { type Interruption, listenForInterruption } from './interruption.ts';
import { type ImportCounts, loadRows, nothingCounted, type RejectedRow } from './load-rows.ts';
import { formatByOptions, openRows, type ReadFileOptions } from './open-rows.ts';
import { showProgress } from './progress.ts';
import { openRejectsFile } from './rejects-file.ts';
import { isSameFile, openSource } from './source.ts';
import { formatSummary } from './summary.ts';

export interface ImportOptions extends ReadFileOptions {
  /** The path of the rejects file, or `-`. Default: the file's path and `.rejects`. */
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
  const format = formatByOptions(file, options);
  const rejectsPath = options.rejects ?? `${file === '-' ? 'import' : file}.rejects`;
  if (await isSameFile(file, rejectsPath)) {
    throw usageError(`${rejectsPath} is the file to import: name another file with --rejects`);
  }
  const source = await openSource(file);
  const interruption = listenForInterruption();
  addAbortSignal(interruption.signal, source.input);
  const counts: ImportCounts = { ...nothingCounted };

  const load = async (blocks: AsyncGenerator<RowBlock>, store: PlantStore) => {
    const rejectsFile = await openRejectsFile(rejectsPath);
    const started = performance.now();
    const progress = showProgress(counts, source);
    let isComplete = false;
    try {
      await loadRows({
        store,
        blocks,
        counts,
        onProgress: progress.update,
        async onRejectedRows(rows, header) {
          await rejectsFile.add(header, rows.map(({ text }) => text).join(''));
          if (options.strict) throw strictError(rows);
        },
      });
      isComplete = true;
    } finally {
      progress.stop();
      await rejectsFile.close();
      const milliseconds = performance.now() - started;
      const summary = { counts, milliseconds, isComplete, rejectsPath };
      const text = formatSummary(summary, options.json ?? false);
      // Standard output is only for the rejected rows then.
      if (rejectsPath === '-') process.stderr.write(text);
      else await writeOutput([text]);
    }
  };
  try {
    const blocks = await openRows(source.input, format, options);
    await withStore((store) => load(blocks, store));
  } catch (error) {
    throw withHint(error, interruption);
  } finally {
    source.input.destroy();
  }
  return counts;
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
