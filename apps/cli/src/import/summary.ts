import type { ImportCounts } from './load-rows.ts';
import { rate } from './progress.ts';

interface Summary {
  counts: ImportCounts;
  milliseconds: number;
  /** Whether the file was read to its end. */
  isComplete: boolean;
  rejectsFile: string;
}

/** What an import says at its end: a sentence, or a line of JSON for scripts. */
export function summarize({ counts, milliseconds, ...rest }: Summary, json: boolean): string {
  const { rows, inserted, present, conflicts, rejected } = counts;
  const seconds = Math.round(milliseconds) / 1000;
  const rejectsFile = conflicts + rejected > 0 ? rest.rejectsFile : null;
  if (json) {
    return `${JSON.stringify({ ...counts, seconds, isComplete: rest.isComplete, rejectsFile })}\n`;
  }
  const became = `${inserted} inserted, ${present} present, ${conflicts} conflicts, ${rejected} rejected`;
  const speed = `${seconds} s, ${rate(rows, milliseconds)} rows/s`;
  const reasons = rejectsFile ? `; the reasons are in ${rejectsFile}` : '';
  return `${rows} rows: ${became} (${speed})${reasons}\n`;
}
