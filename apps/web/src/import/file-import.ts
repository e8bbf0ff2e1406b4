import { type Columns, formatOf } from '@plant-store/formats';
import { countOf, number } from '../plants/plant-text.tsx';
import type { ImportPreview } from './import-preview.ts';
import type { ImportCounts, ImportStep } from './import-step.ts';

/** The console shows at most this number of rejected rows. The user can save all rejected rows. */
const shownRows = 100;

type ImportState =
  | 'opening'
  | 'chosen'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'done'
  | 'cancelled'
  | 'failed';

/** A file that the user chose, and the state of its import. */
export interface FileImport {
  /** The id differs from the ids of all other imports in this tab. */
  readonly id: number;
  readonly file: File;
  readonly state: ImportState;
  readonly preview?: ImportPreview;
  /** The names in the header of a CSV file. */
  readonly header: readonly string[];
  /** Says for each property of a plant which column of the file contains the property. */
  readonly columns: Columns;
  readonly bytes: number;
  readonly counts: ImportCounts;
  readonly warnings: readonly string[];
  /** The first rejected rows, which the console shows. */
  readonly rejectedRows: readonly { line: number; reason: string }[];
  /** The file of rejected rows, as a list of parts. */
  readonly rejects: readonly Blob[];
  /** The average number of rows per second since the start of the import. */
  readonly rowsPerSecond?: number;
  readonly reason?: string | undefined;
}

/** Whether the import goes on without the user. */
export function isActive(current: FileImport): boolean {
  return current.state === 'queued' || isStarted(current);
}

/** Whether the import sends plants, or waits for the server or a token. */
export function isStarted({ state }: FileImport): boolean {
  return state === 'running' || state === 'waiting';
}

export function isEnded({ state }: FileImport): boolean {
  return state === 'done' || state === 'cancelled' || state === 'failed';
}

/** Summarizes imports. `attention` is the number of rows and files that need the user's attention. */
export function summaryOf(imports: readonly FileImport[]) {
  const sum = (of: (each: FileImport) => number) =>
    imports.reduce((all, each) => all + of(each), 0);
  const added = sum(({ counts }) => counts.added);
  const present = sum(({ counts }) => counts.present);
  const wrong = sum(({ counts }) => counts.taken + counts.rejected);
  const stopped = sum(({ state }) => Number(state === 'failed'));
  const attention = [
    wrong > 0 && `${number.format(wrong)} ${wrong === 1 ? 'needs' : 'need'} attention`,
    stopped > 0 && `${countOf(stopped, { noun: 'file' })} stopped at an error`,
  ].filter(Boolean);
  const outcome = `${number.format(added)} added`;
  return {
    outcome: present > 0 ? `${outcome}, ${number.format(present)} already there` : outcome,
    attention: attention.join(', '),
  };
}

/** Adds the outcome of some rows to the state of an import. */
export function withStep(latest: FileImport, step: ImportStep): Partial<FileImport> {
  const { counts, rejectedRows, rejectsHeader, bytes } = step;
  const sums = Object.entries(latest.counts).map(([name, count]) => [
    name,
    count + counts[name as keyof ImportCounts], // The cast is safe, because both counts have each key.
  ]);
  const sum = { bytes: latest.bytes + bytes, counts: Object.fromEntries(sums) as ImportCounts };
  if (rejectedRows.length === 0) return sum;
  const start = latest.rejects.length === 0 ? rejectsHeader : '';
  const room = Math.max(0, shownRows - latest.rejectedRows.length);
  return {
    ...sum,
    rejects: [...latest.rejects, new Blob([start, ...rejectedRows.map(({ text }) => text)])],
    rejectedRows: [...latest.rejectedRows, ...rejectedRows.slice(0, room)],
  };
}

/** Returns how many percent of a file the import has finished. */
export function percentOf({ state, bytes, file }: FileImport): number {
  if (state === 'done') return 100;
  return Math.min(99, Math.floor((100 * bytes) / Math.max(1, file.size)));
}

/**
 * Returns a name for the file of rejected rows. Rejected rows are saved in the format of the imported file,
 * but without compression.
 */
export function rejectsName({ name }: File): string {
  const base = name.replace(/(\.rejects)?\.(csv|tsv|tab|ndjson|jsonl)(\.(gz|rejects))*$/i, '');
  return `${base}.rejects.${formatOf(name, '')}`;
}
