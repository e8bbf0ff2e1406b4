import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Encoding, encodings } from '@plant-store/formats';
import { Command, Option } from 'commander';
import { explain, reportError, usageError } from '../errors.ts';
import { createImport, type RejectedRow, type Totals } from '../import/import-files.ts';
import { write, writeJson } from '../output.ts';
import { connect } from '../store.ts';

const help = `
The files are CSV with a header row (id, name and perhaps tag), or NDJSON, plain or compressed by gzip.

The import stores the valid rows, and shows each other row with its line. To complete an import that was
stopped, run it again: it changes nothing about plants that the store has.

Exit codes: 0 every row is stored, 1 an error stopped the import, 2 an argument or a setting is not valid, 3 some rows are rejected, 130 SIGINT, 143 SIGTERM

Examples:
  plant-store import plants.csv --rejects rejected.csv
  gunzip -c plants.ndjson.gz | plant-store import -
`;

interface ImportOptions {
  rejects?: string;
  dryRun?: true;
  encoding?: Encoding;
  json?: true;
}

export const importCommand = () =>
  new Command('import')
    .summary('store the plants of files')
    .description('Store the plants of files of any size.')
    .argument('<file...>', 'the files, or - for standard input')
    .option('--rejects <file>', 'write the lines of the rejected rows to this file')
    .option('--dry-run', 'check the rows, and store nothing')
    .addOption(
      new Option('--encoding <encoding>', 'of files that are not UTF-8').choices(encodings),
    )
    .option('--json', 'write the totals, the rejected rows and an error as JSON')
    .addHelpText('after', help)
    .action(importFiles);

async function importFiles(files: string[], options: ImportOptions): Promise<void> {
  const { rejects, dryRun, encoding, json = false } = options;
  if (rejects !== undefined && files.some((file) => resolve(file) === resolve(rejects))) {
    throw usageError('--rejects names a file of the import: name another file');
  }
  const rejectsFile = rejects === undefined ? undefined : createRejects(rejects);
  const { signal, exitCode } = stopSignal();
  const show = createMessages(json);
  const { importFile, totals, finished } = createImport({
    store: dryRun ? undefined : connect({ headers: uncompressed }),
    encoding,
    signal,
    async onRejected(row) {
      show.rejected(row);
      await rejectsFile?.(row);
    },
    onNote: (note) => show.message(note),
    onRetry: (error) => show.retry(error),
  });
  const stopCounter = show.counter(totals);
  try {
    for (const file of files) await importFile(file);
    const { rejected, conflicts } = totals();
    process.exitCode = rejected + conflicts > 0 ? 3 : 0;
  } catch (error) {
    // The requests that are on their way may still get their results.
    await Promise.race([finished(), setTimeout(600)]);
    stopCounter();
    process.exitCode = exitCode() ?? reportError(error, json);
  }
  stopCounter();
  await (json ? writeJson(totals()) : write(`${sentence(totals())}\n`));
  // A request or an open pipe must not keep the command running.
  if (process.exitCode !== 0) process.exit();
}

/** The results of a batch are short, so their compression would cost more time than it saves. */
const uncompressed = { 'accept-encoding': 'identity' };

/** Aborts at the first SIGINT or SIGTERM. The second one kills the process. */
function stopSignal() {
  const controller = new AbortController();
  let exitCode: number | undefined;
  for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.once(name, () => {
      exitCode = code;
      controller.abort();
    });
  }
  return { signal: controller.signal, exitCode: () => exitCode };
}

/** Makes a function that writes the lines of rejected rows into a file, which a later import can read. */
function createRejects(path: string) {
  const output = createWriteStream(path).on('error', (error) => {
    process.exitCode = reportError(error, false);
    process.exit();
  });
  let start: string | undefined;
  return async (row: RejectedRow) => {
    if (start === undefined) await write(row.start, output);
    start = row.start;
    await write(`${row.text}\n`, output);
  };
}

/** Writes messages to standard error. On a terminal, a counter of the rows stands in the last line. */
function createMessages(isJson: boolean) {
  const isTerminal = process.stderr.isTTY;
  const clear = isTerminal ? '\r\x1b[K' : '';
  let isDown = false;
  const message = (text: string) => {
    process.stderr.write(isJson ? `${JSON.stringify({ message: text })}\n` : `${clear}${text}\n`);
  };
  return {
    message,
    rejected({ file, line, message }: RejectedRow): void {
      const text = isJson
        ? JSON.stringify({ file, line, message })
        : `${clear}${file}:${line}: ${message}`;
      process.stderr.write(`${text}\n`);
    },
    /** Shows an outage once. */
    retry(error: unknown): void {
      if (!isDown) message(`${explain(error).message}; the import goes on when the store responds`);
      isDown = true;
    },
    counter(totals: () => Totals): () => void {
      if (!isTerminal || isJson) return () => {};
      const timer = setInterval(() => {
        process.stderr.write(`${clear}${totals().lines.toLocaleString('en')} lines`);
      }, 200);
      return () => {
        clearInterval(timer);
        process.stderr.write(clear);
      };
    },
  };
}

const words: Partial<Record<keyof Totals, string>> = {
  exists: 'exist already',
  conflicts: 'have the id of another plant',
  rejected: 'rejected',
  valid: 'valid',
  unconfirmed: 'without a response (run the import again)',
  header: 'header',
  blank: 'blank',
  continued: 'continued from the line before',
};

/** Says the totals in one line. Leaves out what did not occur. */
function sentence(totals: Totals): string {
  const number = (count: number) => count.toLocaleString('en');
  const others = Object.entries(words).flatMap(([kind, text]) => {
    const count = totals[kind as keyof Totals]; // The cast is safe, because `words` has only these keys.
    return count > 0 ? [`${number(count)} ${text}`] : [];
  });
  return `${number(totals.lines)} lines: ${[`${number(totals.created)} created`, ...others].join(', ')}`;
}
