import { createReadStream } from 'node:fs';
import { addAbortSignal, Readable } from 'node:stream';
import type { PlantStoreClient } from '@plant-store/client';
import { type Encoding, FileError, type FileFacts, type Row, readRows } from '@plant-store/formats';
import { errorCatalogue } from '@plant-store/schemas/plain';
import { CommandError } from '../errors.ts';
import { createPlants, type Outcome, type PlantRow } from './create-plants.ts';

/** The number of requests at the same time. */
const parallelBatches = 4;

/** The number of rows by outcome, and of lines by kind. Each line has exactly one outcome or kind. */
export interface Totals {
  lines: number;
  created: number;
  /** The store had the same plant already. */
  exists: number;
  /** The id belongs to another plant. */
  conflicts: number;
  /** The row is not a valid plant, or the store cannot keep it. */
  rejected: number;
  /** Rows without an outcome, because an error or a signal stopped the import. The store may have them. */
  unconfirmed: number;
  /** Rows with a valid plant, when the import stores nothing. */
  valid: number;
  header: number;
  blank: number;
  /** Lines that continue the row before, inside quotes. */
  continued: number;
}

export interface RejectedRow {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  /** The lines of the row in the file. */
  readonly text: string;
  /** The start of a file of rejected rows, such as the header of CSV. */
  readonly start: string;
}

export interface ImportOptions {
  /** Undefined: the import only checks the rows. */
  store: PlantStoreClient | undefined;
  encoding: Encoding | undefined;
  /** Stops reading and sending. */
  signal: AbortSignal;
  onRejected: (row: RejectedRow) => Promise<void>;
  onNote: (note: string) => void;
  onRetry: (error: unknown) => void;
}

/** Imports files one after the other. The totals are true at any time, and after an error too. */
export function createImport(options: ImportOptions) {
  const settled = { created: 0, exists: 0, conflicts: 0, rejected: 0, valid: 0 };
  const facts: FileFacts[] = [];
  const running = new Set<Promise<void>>();
  /** The ids in the running requests. */
  const ids = new Set<bigint>();
  return { importFile, totals, finished: () => Promise.allSettled(running) };

  /** @throws CommandError when the file cannot be read, and the error of a call */
  async function importFile(name: string): Promise<void> {
    const { encoding, signal, onNote } = options;
    const input = addAbortSignal(signal, name === '-' ? process.stdin : createReadStream(name));
    // The types of Node and of the DOM describe the same class.
    const stream = Readable.toWeb(input) as unknown as ReadableStream<Uint8Array>;
    const file = readRows(stream, { encoding });
    facts.push(file.facts);
    try {
      for await (const rows of file.rows) await importRows(name, rows, file.facts);
      await Promise.all(running);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await Promise.all(running);
      throw new CommandError(`${name}: ${error.message}`, {
        code: errorCatalogue.invalidInput.code,
      });
    } finally {
      for (const note of file.facts.notes) onNote(`${name}: ${note}`);
    }
  }

  async function importRows(
    file: string,
    rows: readonly Row[],
    { rejectsStart: start }: FileFacts,
  ) {
    const { store, signal, onRetry } = options;
    const reject = (row: Row, message: string) =>
      options.onRejected({ file, line: row.line, message, text: row.text, start });
    const plantRows: PlantRow[] = [];
    for (const row of rows) {
      if (row.error === undefined) {
        plantRows.push(row);
      } else {
        settled.rejected++;
        await reject(row, row.error);
      }
    }
    if (!store) {
      settled.valid += plantRows.length;
      return;
    }
    const onOutcome = async (row: PlantRow, { result, error, message = '' }: Outcome) => {
      if (result !== 'error') {
        settled[result]++;
        return;
      }
      settled[error === errorCatalogue.idTaken.code ? 'conflicts' : 'rejected']++;
      await reject(row, message);
    };
    while (running.size >= parallelBatches) await Promise.race(running);
    // Of two rows with the same id, the first row in the file must reach the store first.
    if (plantRows.some(({ plant }) => ids.has(plant.id))) await Promise.all(running);
    for (const { plant } of plantRows) ids.add(plant.id);
    const sent = createPlants(store, plantRows, { signal, onOutcome, onRetry }).then(() => {
      running.delete(sent);
      for (const { plant } of plantRows) ids.delete(plant.id);
    });
    sent.catch(() => {}); // `importFile` throws this error when it next waits.
    running.add(sent);
  }

  function totals(): Totals {
    const sum = (kind: 'lines' | 'rows' | 'header' | 'blank' | 'continued') =>
      facts.reduce((total, each) => total + each[kind], 0);
    const outcomes = Object.values(settled).reduce((total, count) => total + count, 0);
    return {
      lines: sum('lines'),
      ...settled,
      unconfirmed: sum('rows') - outcomes,
      header: sum('header'),
      blank: sum('blank'),
      continued: sum('continued'),
    };
  }
}
