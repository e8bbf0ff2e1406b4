import { createReadStream } from 'node:fs';
import { addAbortSignal, Readable } from 'node:stream';
import { FileError, type FileFacts, type Row, readRows } from '@plant-store/formats';
import { errorCatalogue } from '@plant-store/schemas';
import { CommandError } from './errors.ts';
import { type Outcome, type PlantRow, sendRows } from './send-rows.ts';
import type { Address } from './store.ts';

/** The maximum number of requests that the import sends at the same time. */
const parallelBatches = 4;

interface ImportOptions {
  /** Without an address, the import only checks the rows. */
  address: Address | undefined;
  /** An abort stops the import. */
  signal: AbortSignal;
  /** Receives a row that is not stored. `start` is the start of a file of rejected rows. */
  onRejected: (row: { file: string; row: Row; message: string; start: string }) => void;
  onNote: (note: string) => void;
  onRetry: (message: string) => void;
}

/** Makes an import of one or more files. The totals of the import are correct at any time, even after an error. */
export function createImport({ address, signal, onRejected, onNote, onRetry }: ImportOptions) {
  const outcomes = { created: 0, exists: 0, conflicts: 0, rejected: 0, valid: 0 };
  const facts: FileFacts[] = [];
  const running = new Set<Promise<void>>();
  /** The ids in the running requests. */
  const ids = new Set<bigint>();
  return { importFile, totals, finished: () => Promise.allSettled(running) };

  /** @throws CommandError when the content is not valid, and the errors of reading the file and of requests */
  async function importFile(name: string): Promise<void> {
    const input = addAbortSignal(signal, name === '-' ? process.stdin : createReadStream(name));
    // The types of Node and of the DOM describe the same class.
    const stream = Readable.toWeb(input) as unknown as Parameters<typeof readRows>[0];
    const file = readRows(stream);
    facts.push(file.facts);
    try {
      for await (const rows of file.rows) await importRows(name, rows, file.facts.rejectsStart);
      await Promise.all(running);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await Promise.all(running);
      const { code } = errorCatalogue.invalidInput;
      throw new CommandError(`${name}: ${error.message}`, { code });
    } finally {
      for (const note of file.facts.notes) onNote(`${name}: ${note}`);
    }
  }

  async function importRows(file: string, rows: readonly Row[], start: string): Promise<void> {
    const reject = (kind: 'conflicts' | 'rejected', row: Row, message: string) => {
      outcomes[kind]++;
      onRejected({ file, row, message, start });
    };
    const plantRows: PlantRow[] = [];
    for (const row of rows) {
      if (row.plant) plantRows.push(row);
      else reject('rejected', row, row.error);
    }
    if (!address) {
      outcomes.valid += plantRows.length;
      return;
    }
    const onOutcome = (row: PlantRow, { result = 'error', error, message = '' }: Outcome) => {
      if (result !== 'error') outcomes[result]++;
      else reject(error === errorCatalogue.idTaken.code ? 'conflicts' : 'rejected', row, message);
    };
    while (running.size >= parallelBatches) await Promise.race(running);
    // Of two rows with the same id, the first row in the file must reach the store first.
    if (plantRows.some(({ plant }) => ids.has(plant.id))) await Promise.all(running);
    for (const { plant } of plantRows) ids.add(plant.id);
    const sent = sendRows(plantRows, { address, signal, onOutcome, onRetry }).then(() => {
      running.delete(sent);
      for (const { plant } of plantRows) ids.delete(plant.id);
    });
    sent.catch(() => {}); // The promise stays in `running`, so the next wait throws its error.
    running.add(sent);
  }

  /** Counts the lines by kind, and the rows by outcome. A line has one kind, and a row has one outcome. */
  function totals() {
    const sum = { lines: 0, rows: 0, header: 0, blank: 0, continued: 0 };
    for (const each of facts) {
      for (const kind of Object.keys(sum) as (keyof typeof sum)[]) sum[kind] += each[kind];
    }
    const { rows, ...lines } = sum;
    const known = Object.values(outcomes).reduce((total, count) => total + count);
    // After an error or a signal, the store may have plants whose response did not arrive.
    return { ...lines, ...outcomes, unconfirmed: rows - known };
  }
}
