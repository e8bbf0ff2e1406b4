import { SingleBar } from 'cli-progress';
import type { ImportCounts } from './load-rows.ts';
import type { ImportSource } from './source.ts';

const terminalFormats = {
  knownSize: '{bar} {percentage}% | {rows} rows | {rate} rows/s | ETA {eta_formatted}',
  unknownSize: '{rows} rows | {rate} rows/s | {duration_formatted}',
};
const pipeFormats = {
  knownSize: 'plant-store: {percentage}%, {rows} rows, {rate} rows/s, ETA {eta_formatted}',
  unknownSize: 'plant-store: {rows} rows, {rate} rows/s, {duration_formatted}',
};

export interface ImportProgress {
  /** Shows the counts of now. */
  update(): void;
  stop(): void;
}

export const noProgress: ImportProgress = { update() {}, stop() {} };

/**
 * Shows an import's progress on stderr: a bar on a terminal, otherwise a line every two seconds. */
export function showProgress(
  counts: ImportCounts,
  { size, bytesRead }: Pick<ImportSource, 'size' | 'bytesRead'>,
): ImportProgress {
  const stream = process.stderr;
  const formats = stream.isTTY ? terminalFormats : pipeFormats;
  const started = performance.now();
  const bar = new SingleBar({
    stream,
    format: size ? formats.knownSize : formats.unknownSize,
    noTTYOutput: true,
    notTTYSchedule: 2_000,
    hideCursor: null, // A killed process could not show the cursor again.
    gracefulExit: false,
    etaBuffer: 100,
  });
  const payload = () => ({
    rows: counts.rows,
    rate: rowsPerSecond(counts.rows, performance.now() - started),
  });
  bar.start(size ?? 1, 0, payload());
  const update = () => bar.update(size ? bytesRead() : 0, payload());
  return {
    update,
    stop() {
      update();
      bar.stop();
    },
  };
}

export function rowsPerSecond(rows: number, milliseconds: number): number {
  return Math.round((rows * 1000) / Math.max(milliseconds, 1));
}
