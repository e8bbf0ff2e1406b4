import { noLines } from '@plant-store/formats';

export type ImportCounts = typeof nothingCounted;

/** The number of rows with each outcome, and the number of lines of each kind. */
export const nothingCounted = {
  ...noLines,
  /** The sum of the other rows. `lines` is the sum of `rows`, `header`, `blank` and `continued`. */
  rows: 0,
  added: 0,
  /** The number of rows whose plant was in the store already. */
  present: 0,
  /** The number of rows whose id belongs to another plant in the store. */
  taken: 0,
  /** The number of rows without a valid plant. */
  rejected: 0,
};

/** A row whose plant is not stored, because the plant is invalid or another plant has the id. */
export interface RejectedRow {
  readonly line: number;
  readonly reason: string;
  /** The text to write to the file of rejected rows. */
  readonly text: string;
}

/** The outcome of the rows of a batch. */
export interface ImportStep {
  readonly counts: ImportCounts;
  readonly rejectedRows: readonly RejectedRow[];
  /** The header of the file of rejected rows. */
  readonly rejectsHeader: string;
  /** The number of bytes that the rows take in the file. */
  readonly bytes: number;
}
