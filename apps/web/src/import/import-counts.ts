import { type LineCounts, noLines } from '@plant-store/formats';

/** The number of rows with each outcome, and the number of lines of each kind. */
export interface ImportCounts extends LineCounts {
  /**
   * The number of rows: the sum of `added`, `present`, `taken` and `rejected`. `lines` is the sum of `rows`,
   * `header`, `blank` and `continued`.
   */
  readonly rows: number;
  readonly added: number;
  /** The number of rows whose plant was in the store already. */
  readonly present: number;
  /** The number of rows whose id belongs to another plant in the store. */
  readonly taken: number;
  /** The number of rows without a valid plant. */
  readonly rejected: number;
}

export const nothingCounted: ImportCounts = {
  ...noLines,
  ...{ rows: 0, added: 0, present: 0, taken: 0, rejected: 0 },
};
