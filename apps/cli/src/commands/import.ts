import { openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeCommand, write, writeJson } from '../command.ts';
import { reportError, usageError } from '../errors.ts';
import { createImport } from '../import-files.ts';
import { readAddress } from '../store.ts';

const details = `
The files are CSV with a header row (id, name and perhaps tag), or NDJSON, plain or compressed by gzip.

The import stores the valid rows, and shows each other row with its line. To complete an import that was
stopped, run it again: it changes nothing about plants that the store has.

Examples:
  plant-store import plants.csv --rejects rejected.csv
  plant-store import - < plants.ndjson
`;

interface ImportOptions {
  rejects?: string;
  dryRun?: true;
  json?: true;
}

export const importCommand = () =>
  makeCommand('import', 'store the plants of files of any size', details)
    .argument('<file...>', 'the files, or - for standard input')
    .option('--rejects <file>', 'write the lines of the rejected rows to this file')
    .option('--dry-run', 'check the rows, and store nothing')
    .action(importFiles);

async function importFiles(files: string[], options: ImportOptions): Promise<void> {
  const { rejects, dryRun, json = false } = options;
  if (rejects !== undefined && files.some((file) => resolve(file) === resolve(rejects))) {
    throw usageError('--rejects names a file of the import: name another file');
  }
  const { signal, exitCode } = stopSignal();
  const { show, showRejected, showOutage, startCounter } = createMessages(json);
  const writeRejected = rejects === undefined ? undefined : createRejects(rejects);
  const { importFile, totals, finished } = createImport({
    address: dryRun ? undefined : readAddress(),
    signal,
    onRejected({ file, row, message, start }) {
      showRejected(file, row.line, message);
      writeRejected?.(row.text, start);
    },
    onNote: show,
    onRetry: showOutage,
  });
  const stopCounter = startCounter(() => totals().lines);
  try {
    for (const file of files) await importFile(file);
    const { rejected, conflicts } = totals();
    process.exitCode = rejected + conflicts > 0 ? 3 : 0;
  } catch (error) {
    // The running requests may still get their responses.
    await Promise.race([finished(), setTimeout(600)]);
    process.exitCode = exitCode() ?? reportError(error, json);
    show('the import is not complete: run it again');
  } finally {
    stopCounter();
  }
  await (json ? writeJson(totals()) : write(textOf(totals())));
  // After an error, an open pipe or a request must not keep the command running.
  if (process.exitCode !== 0) process.exit();
}

/** Aborts at the first SIGINT or SIGTERM. A second signal of the same name kills the process. */
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

/** Makes a function that writes rejected rows into a file, which a later import can read. */
function createRejects(path: string) {
  const file = openSync(path, 'w');
  let first: string | undefined;
  return (text: string, start: string) => {
    if (first === undefined) writeSync(file, start);
    first ??= start;
    if (start !== first)
      throw usageError('--rejects needs files with the same header: import the files separately');
    writeSync(file, `${text}\n`);
  };
}

/** Makes functions that write to standard error. On a terminal, the last line counts the lines of the files. */
function createMessages(isJson: boolean) {
  const isTerminal = process.stderr.isTTY;
  const clear = isTerminal ? '\r\x1b[K' : '';
  const put = (text: string, json: object) =>
    void process.stderr.write(isJson ? `${JSON.stringify(json)}\n` : `${clear}${text}\n`);
  const show = (message: string) => put(message, { message });
  let isDown = false;
  return {
    show,
    showRejected: (file: string, line: number, message: string) =>
      put(`${file}:${line}: ${message}`, { file, line, message }),
    showOutage(message: string): void {
      if (!isDown) show(`${message}; the import goes on when the store responds`);
      isDown = true;
    },
    startCounter(count: () => number): () => void {
      if (!isTerminal || isJson) return () => {};
      const draw = () => process.stderr.write(`${clear}${count().toLocaleString('en')} lines`);
      const timer = setInterval(draw, 200);
      return () => {
        clearInterval(timer);
        process.stderr.write(clear);
      };
    },
  };
}

function textOf(totals: Readonly<Record<string, number>>): string {
  const parts = Object.entries(totals).filter(([kind, count]) => count > 0 || kind === 'lines');
  return `${parts.map(([kind, count]) => `${count.toLocaleString('en')} ${kind}`).join(', ')}\n`;
}
