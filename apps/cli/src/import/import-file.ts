import { checkPlant, PlantStoreError } from '@plant-store/core';
import { FileError } from '@plant-store/formats';
import {
  type ImportCounts,
  loadRows,
  nothingCounted,
  openPlantFile,
  type PlantFile,
  type ReadFileOptions,
  type RejectedRow,
  type RowStore,
} from '@plant-store/formats/node';
import { interruptible, limitMemory } from '../command-line/bulk-command.ts';
import { CommandError, exitCodes, usageError } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';
import { noProgress, showProgress } from '../command-line/progress-bar.ts';
import { withStore } from '../command-line/with-store.ts';
import { fileSettings, inputOf, toCommandError } from './file-errors.ts';
import { defaultRejectsPath, isSameFile, openRejectsFile } from './rejects-file.ts';
import { formatSummary } from './summary.ts';

export interface ImportOptions
  extends Pick<ReadFileOptions, 'format' | 'delimiter' | 'encoding' | 'createdAt'> {
  /**
   * The path of the rejects file, or `-` for standard output. Default: the result of `defaultRejectsPath`.
   */
  rejects?: string;
  /** Only checks the file, and does not use the store. */
  dryRun?: true;
  /** Stops at the first rejected row or conflict. */
  strict?: true;
  /** What the import does with a row whose id belongs to another plant. */
  onConflict: (typeof onConflicts)[number];
  /** Shows no progress. Writes a summary only if `json` is also set. */
  quiet?: true;
  /** Writes the summary as JSON. */
  json?: true;
}

export const onConflicts = ['report', 'skip', 'fail'] as const;

/**
 * Imports a file, or standard input for `-`. Shows the progress on stderr, and writes a summary to
 * stdout even when the import stops early.
 *
 * @returns whether the store has the plants of all rows, except the conflicts that the import skips
 * @throws CommandError when the import cannot start or stops early.
 */
export async function importFile(file: string, options: ImportOptions): Promise<boolean> {
  const rejectsPath = options.rejects ?? defaultRejectsPath(file);
  if (await isSameFile(file, rejectsPath)) {
    throw usageError(`${rejectsPath} is the file to import: name another file with --rejects`);
  }
  limitMemory();
  return interruptible(`interrupted: ${hint}`, async (signal) => {
    let opened: PlantFile | undefined;
    try {
      opened = await openPlantFile(inputOf(file), { ...fileSettings, ...options, signal });
      const plants = opened;
      const load = (store: RowStore) => loadFile(plants, store, { ...options, rejectsPath });
      return await (options.dryRun ? load(dryStore) : withStore(load));
    } catch (error) {
      throw withHint(error, opened ? exitCodes.error : exitCodes.usage);
    } finally {
      opened?.input.destroy();
    }
  });
}

/** Checks plants as the store does, but stores nothing and does not know which ids are taken. */
const dryStore: RowStore = {
  load: async (plants) =>
    plants.map((plant) => {
      const checked = checkPlant(plant);
      return checked instanceof PlantStoreError ? checked : 'valid';
    }),
};

async function loadFile(
  { blocks, size, bytesRead }: PlantFile,
  store: RowStore,
  options: ImportOptions & { rejectsPath: string },
): Promise<boolean> {
  const { rejectsPath, dryRun, strict, onConflict, quiet, json } = options;
  const counts: ImportCounts = { ...nothingCounted };
  const rejectsFile = await openRejectsFile(rejectsPath);
  const started = performance.now();
  const progress = quiet
    ? noProgress
    : showProgress({ total: size, value: bytesRead, rows: () => counts.rows });
  const listsConflicts = onConflict !== 'skip';
  const isFatal = ({ isConflict }: RejectedRow) =>
    isConflict ? onConflict === 'fail' || (strict && listsConflicts) : strict;
  let isComplete = false;
  try {
    await loadRows({
      store,
      blocks,
      counts,
      isStepwise: strict === true || onConflict === 'fail',
      onProgress: progress.update,
      async onRejectedRows(rows, header) {
        const listed = rows.filter(({ isConflict }) => listsConflicts || !isConflict);
        if (listed.length > 0)
          await rejectsFile.add(header, listed.map(({ text }) => text).join(''));
        const fatal = rows.find(isFatal);
        if (fatal) throw stoppedAt(fatal, counts);
      },
    });
    isComplete = true;
  } finally {
    progress.stop();
    await rejectsFile.close();
    const milliseconds = performance.now() - started;
    const isDryRun = dryRun === true;
    const summary = { counts, milliseconds, isComplete, rejectsPath, isDryRun, listsConflicts };
    if (json || !quiet) await writeSummary(formatSummary(summary, json ?? false), rejectsPath);
  }
  return counts.rejected + (listsConflicts ? counts.conflicts : 0) === 0;
}

async function writeSummary(text: string, rejectsPath: string): Promise<void> {
  // With `--rejects -`, standard output has only the rejected rows, so the summary goes to standard error.
  if (rejectsPath === '-') process.stderr.write(text);
  else await writeOutput([text]);
}

/** Makes the error for an import that stops at a row. The error says how many rows are stored. */
function stoppedAt({ line, reason }: RejectedRow, { lines, created, exists }: ImportCounts) {
  const stored = `${created} rows of lines 1 to ${lines} are stored, and ${exists} were stored before`;
  const message = `line ${line}: ${reason}; the import stopped: ${stored}`;
  return new CommandError(`${message}; correct the line, then run the import again`, {
    exitCode: exitCodes.incomplete,
  });
}

const hint = 'run the import again to complete it';

/** Adds `hint` to the message of a database error. */
function withHint(cause: unknown, ofFile: number): unknown {
  if (cause instanceof FileError) return toCommandError(cause, ofFile);
  const isOfDatabase = cause instanceof CommandError && cause.cause instanceof PlantStoreError;
  if (!isOfDatabase) return cause;
  return new CommandError(`${cause.message}; then ${hint}`, { cause: cause.cause });
}
