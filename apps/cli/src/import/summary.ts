import type { ImportCounts } from '@plant-store/formats/node';
import { rowsPerSecond } from '../command-line/progress-bar.ts';

interface Summary {
  counts: ImportCounts;
  milliseconds: number;
  /** Whether the import has read the whole file. */
  isComplete: boolean;
  rejectsPath: string;
  isDryRun: boolean;
  /** Whether the rejects file lists conflicts. */
  listsConflicts: boolean;
}

/** Formats an import's summary for people, or as a line of JSON for scripts. */
export function formatSummary(summary: Summary, json: boolean): string {
  const { counts, milliseconds, isComplete, rejectsPath, isDryRun, listsConflicts } = summary;
  const { valid, ...rest } = counts;
  const { rows, created, exists, conflicts, rejected } = rest;
  const seconds = Math.round(milliseconds) / 1000;
  const listed = rejected + (listsConflicts ? conflicts : 0);
  const rejectsFile = listed > 0 ? rejectsPath : null;
  if (json) {
    const outcomes = isDryRun ? { isDryRun, ...counts } : rest;
    return `${JSON.stringify({ ...outcomes, seconds, isComplete, rejectsFile })}\n`;
  }

  const outcomes = isDryRun
    ? `${valid} valid, ${rejected} rejected, nothing is stored`
    : `${created} created, ${exists} existed, ${conflicts} conflicts, ${rejected} rejected`;
  const speed = `${seconds} s, ${rowsPerSecond(rows, milliseconds)} rows/s`;
  const reasons = rejectsFile && rejectsFile !== '-' ? `; see ${rejectsFile} for the reasons` : '';
  return `${rows} rows: ${outcomes} (${speed})${reasons}\n${linesText(counts)}\n`;
}

/** Says how many lines of each kind the file has. */
function linesText({ lines, rows, header, blank, continued }: ImportCounts): string {
  const parts = [
    `${rows} rows`,
    header > 0 && `${header} header`,
    blank > 0 && `${blank} blank`,
    continued > 0 && `${continued} inside quoted fields`,
  ];
  return `${lines} lines: ${parts.filter(Boolean).join(', ')}`;
}
