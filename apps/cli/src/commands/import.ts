import { encodings, formatNames } from '@plant-store/formats';
import { Command, Option } from 'commander';
import { exitCodes } from '../command-line/errors.ts';
import { parseDelimiter } from '../command-line/options.ts';
import { type ImportOptions, importFile, onConflicts } from '../import/import-file.ts';

const help = `
The import stores the valid rows. It rejects a row that is not a valid plant, or whose id belongs to
another plant. The rejects file lists each rejected row with its line and the reason, in the format of
the file. Correct the rows there, and import the rejects file.

You can always run an import again: it counts plants that the store already has as existing. So run
it again to complete an import that was stopped.

With --strict, or --on-conflict fail, the import stops at such a row. Rows before it, and some after it,
are stored, and the error says how many. --dry-run finds invalid rows before anything is stored, but
it does not know which ids are taken.

In CSV, an empty field is a missing value, and "" is an empty text. The header names the columns id
and name, and perhaps tag and created_at, in any order and case.

Exit codes: 0 when every row is stored or skipped, 3 when some rows are rejected or in conflict, 1 when an error
stopped the import, 2 when an argument or a setting is invalid, 130 or 143 when a signal interrupted
the import.

The file named - is ./-, because - is standard input, or standard output for --rejects.

Examples:
  plant-store import plants.ndjson
  plant-store export | DATABASE_URL=postgres://… plant-store import - --json
`;

export const importCommand = () =>
  new Command('import')
    .summary('store the plants of a file')
    .description(
      'Store the plants of a file of any size: NDJSON, or CSV with a header row, plain or compressed by gzip or zstd.',
    )
    .argument('<file>', 'the file, or - for standard input')
    .addOption(
      new Option(
        '--format <format>',
        "the file's format (default: by its extension, ndjson for standard input)",
      ).choices(formatNames),
    )
    .option(
      '--delimiter <character>',
      'the delimiter of CSV (default: recognized among , ; | and tab)',
      parseDelimiter,
    )
    .addOption(
      new Option(
        '--encoding <encoding>',
        "the file's encoding (default: by its byte order mark, otherwise utf-8)",
      ).choices(encodings),
    )
    .option(
      '--rejects <file>',
      'where to list the rejected rows, or - for standard output (default: <file>.rejects in plant-store-rejects beside the file, which git ignores)',
    )
    .option('--dry-run', 'check the whole file without the store, and store nothing')
    .option('--strict', 'stop at the first row that is rejected or in conflict')
    .addOption(
      new Option(
        '--on-conflict <action>',
        'what to do when an id belongs to another plant: list the row, skip it, or stop',
      )
        .choices(onConflicts)
        .default('report'),
    )
    .addOption(
      new Option('--created-at <time>', 'keep the creation times in the file, or set all to now')
        .choices(['keep', 'now'])
        .default('keep'),
    )
    .option('--quiet', 'show no progress and no summary; warnings and errors remain')
    .option('--json', 'write the summary as JSON')
    .addHelpText('after', help)
    .action(async (file: string, options: ImportOptions) => {
      const isStored = await importFile(file, options);
      if (!isStored) process.exitCode = exitCodes.incomplete;
    });
