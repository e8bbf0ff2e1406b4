import { type PlantStore, PlantStoreError } from '@plant-store/core';
import { type ExportFileOptions, exportFile } from '@plant-store/formats/node';
import { interruptible, limitMemory } from '../command-line/bulk-command.ts';
import { exitWhenOutputCloses } from '../command-line/closed-output.ts';
import { CommandError } from '../command-line/errors.ts';
import { handleOutputError } from '../command-line/output.ts';
import { type Progress, showProgress } from '../command-line/progress-bar.ts';
import { withStore } from '../command-line/with-store.ts';

export interface ExportOptions
  extends Pick<ExportFileOptions, 'columns' | 'format' | 'gzip' | 'since' | 'tag'> {
  /** Reads the plants page by page instead of in one snapshot. */
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
  await interruptible(`interrupted: ${incomplete}`, (signal) =>
    withStore((store) => writePlants(store, options, signal), {
      readOnly: true,
      needs: { plants: ['SELECT'] },
    }).catch(handleError),
  );
}

const incomplete = 'the output is incomplete';

function handleError(error: unknown): void {
  if (error instanceof CommandError && error.cause instanceof PlantStoreError) {
    throw new CommandError(`${error.message}; ${incomplete}`, { cause: error.cause });
  }
  handleOutputError(error);
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
