import { type ExportColumn, exportColumns } from '@plant-store/core';
import { formatNames } from '@plant-store/formats';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseTime } from '../command-line/options.ts';
import { type ExportOptions, exportPlants } from '../export/export-plants.ts';

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
    .action((options: ExportOptions) => exportPlants(options));

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
