import { type PlantStore, PlantStoreError } from '@plant-store/core';
import { type ExportFileOptions, exportFile } from '@plant-store/formats/node';
import {
  type Interruption,
  limitMemory,
  listenForInterruption,
} from '../command-line/bulk-command.ts';
import { exitWhenOutputCloses } from '../command-line/closed-output.ts';
import { CommandError } from '../command-line/errors.ts';
import { type Progress, showProgress } from '../command-line/progress-bar.ts';
import { withStore } from '../command-line/with-store.ts';

export interface ExportOptions
  extends Pick<ExportFileOptions, 'columns' | 'format' | 'gzip' | 'since' | 'tag'> {
  /** Reads pages instead of one snapshot. */
  paged?: true;
  /** Shows no progress. */
  quiet?: true;
}

/**
 * Writes plants to standard output. Shows the progress on a terminal.
 *
 * @throws CommandError when the export stops before the output is complete
 */
export async function exportPlants(options: ExportOptions): Promise<void> {
  limitMemory();
  await exitWhenOutputCloses();
  const interruption = listenForInterruption(interrupted);
  try {
    await withStore((store) => writePlants(store, options, interruption.signal), {
      readOnly: true,
      needs: { plants: ['SELECT'] },
    });
  } catch (error) {
    // The reader has closed the pipe, as in `plant-store export | head`.
    if (codeOf(error) !== 'EPIPE') throw explained(error, interruption);
  }
}

async function writePlants(store: PlantStore, options: ExportOptions, signal: AbortSignal) {
  const { paged, quiet, ...query } = options;
  let rows = 0;
  let progress: Progress | undefined;
  const count = () => rows;
  const show = (exported: number, total: number | undefined) => {
    rows = exported;
    progress ??= showProgress({ total, value: count, rows: count });
    progress.update();
  };
  const isSeen = process.stderr.isTTY && !process.stdout.isTTY && !quiet;
  const onProgress = isSeen ? show : undefined;
  try {
    await exportFile(store, process.stdout, { ...query, isPaged: paged, signal, onProgress });
  } finally {
    progress?.stop();
  }
}

const incomplete = 'the output is incomplete';
const interrupted = `interrupted: ${incomplete}`;

function explained(cause: unknown, { exitCode }: Interruption): unknown {
  if (exitCode) return new CommandError(interrupted, { exitCode });
  if (cause instanceof CommandError && cause.cause instanceof PlantStoreError) {
    return new CommandError(`${cause.message}; ${incomplete}`, { cause: cause.cause });
  }
  if (codeOf(cause) === 'ENOSPC') {
    const message = `the disk of the output is full: ${incomplete}, so free some room and run the export again`;
    return new CommandError(message, { cause });
  }
  return cause;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
