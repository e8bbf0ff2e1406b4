import {
  type ExportColumn,
  exportColumns,
  type PlantStore,
  PlantStoreError,
} from '@plant-store/core';
import { formatNames } from '@plant-store/formats';
import { type ExportFileOptions, exportFile } from '@plant-store/formats/node';
import { Command, InvalidArgumentError, Option } from 'commander';
import { interruptible, limitMemory } from '../command-line/bulk-command.ts';
import { exitWhenOutputCloses } from '../command-line/closed-output.ts';
import { CommandError } from '../command-line/errors.ts';
import { parseTime } from '../command-line/options.ts';
import { handleOutputError } from '../command-line/output.ts';
import { type Progress, showProgress } from '../command-line/progress-bar.ts';
import { withStore } from '../command-line/with-store.ts';

const help = `
The export has the plants that are committed when it begins, and nothing that is committed later. On a
Postgres it is one statement. While a long export runs, vacuum cannot remove the rows that are deleted
meanwhile, anywhere in the database. With --paged, the export reads many pages instead, each with the
plants of its own moment.

Memory use does not grow with the store. The export of an embedded database needs room on the disk of
its directory, about as much as the output has.

Exit codes: 0 when the output is complete, 1 when an error stopped the export, 2 when an argument or a
setting is invalid, 130 or 143 when a signal interrupted it.

Examples:
  plant-store export --gzip > plants.ndjson.gz
  plant-store export --format csv --since 24h --columns id,name,tag > plants.csv
`;

interface ExportOptions
  extends Pick<ExportFileOptions, 'columns' | 'format' | 'gzip' | 'since' | 'tag'> {
  /** Reads the plants page by page instead of in one snapshot. */
  paged?: true;
  /** Shows no progress. */
  quiet?: true;
}

export const exportCommand = () =>
  new Command('export')
    .summary('write all plants to standard output')
    .description(
      'Write all plants to standard output, in order of id. An import of this output into an empty ' +
        'store restores the plants exactly, with the times at which they were created.',
    )
    .addOption(
      new Option('--format <format>', 'the format of the output')
        .choices(formatNames)
        .default('ndjson'),
    )
    .option(
      '--since <time>',
      'only plants created at this time or later: 2026-11-01 (UTC), 2026-11-01T09:30:00Z, or 24h for the last 24 hours',
      (text) => parseTime(text),
    )
    .option('--tag <tag>', 'only plants with this tag')
    .addOption(
      new Option('--columns <names>', 'the columns to write, separated by commas')
        .argParser(parseColumns)
        .default([...exportColumns], exportColumns.join(',')),
    )
    .option('--gzip', 'compress the output')
    .option('--paged', 'read pages, so that a long export does not hold back vacuum')
    .option('--quiet', 'show no progress')
    .addHelpText('after', help)
    .action(exportPlants);

function parseColumns(text: string): ExportColumn[] {
  const names = text.split(',').map((name) => {
    const known = exportColumns.find((each) => each === name.trim());
    if (known) return known;
    throw new InvalidArgumentError(
      `It must be one or more of ${exportColumns.join(', ')}, separated by commas.`,
    );
  });
  if (new Set(names).size < names.length) {
    throw new InvalidArgumentError('It names a column twice.');
  }
  return names;
}

/**
 * Writes plants to standard output. Shows the progress on a terminal.
 *
 * @throws CommandError when the export stops before the output is complete
 */
async function exportPlants(options: ExportOptions): Promise<void> {
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
