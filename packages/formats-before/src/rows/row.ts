import type { Advice } from '../text/file-error.ts';
import type { Line } from '../text/lines.ts';
import type { Columns } from './columns.ts';

/** A row of a file. The store has not checked the plant yet. An error says why the row has no plant. */
export type Row = {
  /** The number of the row's first line in the file. */
  line: number;
  /** The number of the row's last line, when the row has several lines. */
  lastLine?: number;
} & ({ plant: unknown } | { error: string });

/** Each line starts a row, or is counted in exactly one of `header`, `blank` and `continued`. */
export interface LineCounts {
  lines: number;
  /** The number of lines before the rows, without blank lines. */
  header: number;
  /** The number of lines without text. */
  blank: number;
  /** The number of lines that continue a row. */
  continued: number;
}

/** Consecutive rows of a file, and counts of the lines in this part of the file. */
export interface RowBlock {
  rows: Row[];
  counts: LineCounts;
  /** Formats a row for the rejects file. */
  toReject(row: Row, reason: string): string;
  /** The start of the rejects file. */
  rejectsHeader: string;
}

export interface ReadOptions {
  /** The delimiter between the fields of CSV. Default: the delimiter in the header. */
  delimiter?: string | undefined;
  lineEnd: string;
  /** With `keep`, plants have the times in the file. With `now`, the store sets the times. Default: `keep`. */
  createdAt?: 'keep' | 'now' | undefined;
  /** The columns of plants. Default: the columns of the store. */
  columns?: Columns | undefined;
  advice: Advice;
  /** Receives the names in the header of CSV, even when a column is missing. */
  onHeader?: ((names: readonly string[]) => void) | undefined;
  /** Receives a warning about a likely mistake in the file. */
  warn: (message: string) => void;
}

export const noLines: Readonly<LineCounts> = { lines: 0, header: 0, blank: 0, continued: 0 };

export function addLines(total: LineCounts, counts: LineCounts): void {
  total.lines += counts.lines;
  total.header += counts.header;
  total.blank += counts.blank;
  total.continued += counts.continued;
}

/** Joins the lines of a row. `firstLine` is the line number of `lines[0]` in the file. */
export function textOf(
  { line, lastLine = line }: Row,
  lines: Line[],
  firstLine: number,
  lineEnd: string,
): string {
  return lines
    .slice(line - firstLine, lastLine - firstLine + 1)
    .map((each) => (typeof each === 'string' ? each : each.text))
    .join(lineEnd);
}
