import { addAbortSignal, type Readable } from 'node:stream';
import { type PlantStore, PlantStoreError } from '@plant-store/core';
import { Command, Option } from 'commander';
import { CommandFailure, exitCodes, usageFailure } from '../command-line/errors.ts';
import { writeOut } from '../command-line/output.ts';
import { withStore } from '../command-line/with-store.ts';
import { readLines } from '../formats/lines.ts';
import { type FormatName, formatNames, formatOf, plantFormats } from '../formats/plant-formats.ts';
import { type Interruption, listenForInterruption } from '../import/interruption.ts';
import { type ImportCounts, importPlants, type Refusal } from '../import/load-rows.ts';
import { type ImportProgress, showProgress } from '../import/progress.ts';
import { createRejectsFile } from '../import/rejects-file.ts';
import { isSameFile, openSource } from '../import/source.ts';
import { summarize } from '../import/summary.ts';

interface ImportOptions {
  format?: FormatName;
  rejects?: string;
  strict?: true;
  json?: true;
}

const help = `
A row that is no plant, or whose id belongs to another plant, is listed in the rejects file with its
line and the reason; the others are stored all the same. A row that is in the store already is
counted as present, so an import that was stopped is completed by running it again.

In CSV a field with nothing in it is no text, and "" is an empty text.

Ends with 0 when every row is in the store, 3 when some were rejected or are in conflict, 1 when the
import could not be finished, 2 when it could not begin, 130 or 143 when it was interrupted.

Examples:
  plant-store import plants.ndjson
  plant-store export | DATABASE_URL=postgres://… plant-store import - --json
`;

export const importCommand = () =>
  new Command('import')
    .summary('store the plants of a file')
    .description('Store the plants of a file of any size, NDJSON or CSV with a header row.')
    .argument('<file>', 'the file, or - for standard input')
    .addOption(
      new Option('--format <format>', 'of the file, where its name does not tell').choices(
        formatNames,
      ),
    )
    .option('--rejects <file>', 'list the rows that were not stored here (default: <file>.rejects)')
    .option('--strict', 'stop soon after the first row that is not stored')
    .option('--json', 'write the summary as JSON')
    .addHelpText('after', help)
    .action(runImport);

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const format = plantFormats[options.format ?? formatOf(file)];
  const rejectsFile = options.rejects ?? `${file === '-' ? 'import' : file}.rejects`;
  if (await isSameFile(file, rejectsFile)) {
    throw usageFailure(`${rejectsFile} is what is imported: name another file with --rejects`);
  }
  const { input, size } = await openSource(file);
  const interruption = listenForInterruption();
  addAbortSignal(interruption.signal, input);
  const counts: ImportCounts = { rows: 0, inserted: 0, present: 0, conflicts: 0, rejected: 0 };

  const load = async (store: PlantStore) => {
    const rejects = await createRejectsFile(rejectsFile);
    const started = performance.now();
    const progress = showProgress(counts, size);
    let isComplete = false;
    try {
      await importPlants({
        store,
        rows: format.read(readLines(counted(input, progress))),
        counts,
        async onRefusals(refusals) {
          await rejects.add(refusals);
          if (options.strict) throw firstOf(refusals);
        },
      });
      isComplete = true;
    } finally {
      progress.stop();
      const milliseconds = performance.now() - started;
      const summary = { counts, milliseconds, isComplete, rejectsFile };
      await writeOut([summarize(summary, options.json ?? false)]);
    }
  };
  try {
    await withStore(load);
  } catch (error) {
    throw stopped(error, interruption);
  } finally {
    input.destroy();
  }
  if (counts.conflicts + counts.rejected > 0) process.exitCode = exitCodes.incomplete;
}

async function* counted(input: Readable, progress: ImportProgress): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    progress.read(chunk.length);
    yield chunk;
  }
}

function firstOf([refusal]: Refusal[]): CommandFailure {
  const { line, reason } = refusal ?? {};
  const message = `line ${line}: ${reason}: mend it, then run the import again`;
  return new CommandFailure(message, { exitCode: exitCodes.incomplete });
}

/** Why an import ended before its time. */
function stopped(cause: unknown, { exitCode }: Interruption): unknown {
  const remedy = 'run the import again to complete it';
  if (exitCode) return new CommandFailure(`interrupted: ${remedy}`, { exitCode });
  if (!(cause instanceof PlantStoreError)) return cause;
  return new CommandFailure(`the database did not answer: ${remedy}`, { cause });
}
