import { SingleBar } from 'cli-progress';
import type { ImportCounts } from './load-rows.ts';

const onTerminal = {
  ofFile: '{bar} {percentage}% | {rows} rows | {rate} rows/s | ETA {eta_formatted}',
  ofStream: '{rows} rows | {rate} rows/s | {duration_formatted}',
};
const inPipe = {
  ofFile: 'plant-store: {percentage}%, {rows} rows, {rate} rows/s, ETA {eta_formatted}',
  ofStream: 'plant-store: {rows} rows, {rate} rows/s, {duration_formatted}',
};

export interface ImportProgress {
  /** Says that further bytes have been read. */
  read(bytes: number): void;
  stop(): void;
}

/**
 * Shows how far an import is, on stderr: a bar on a terminal, elsewhere a line every two seconds.
 *
 * @param size of the file in bytes, where it is known
 */
export function showProgress(counts: ImportCounts, size: number | undefined): ImportProgress {
  const stream = process.stderr;
  const formats = stream.isTTY ? onTerminal : inPipe;
  const started = performance.now();
  const bar = new SingleBar({
    stream,
    format: size ? formats.ofFile : formats.ofStream,
    noTTYOutput: true,
    notTTYSchedule: 2_000,
    hideCursor: null, // A process that is killed could not bring it back.
    gracefulExit: false,
    etaBuffer: 100,
  });
  const payload = () => ({
    rows: counts.rows,
    rate: rate(counts.rows, performance.now() - started),
  });
  bar.start(size ?? 1, 0, payload());
  let done = 0;
  return {
    read(bytes) {
      done += bytes;
      bar.update(size ? done : 0, payload());
    },
    stop() {
      bar.update(payload());
      bar.stop();
    },
  };
}

/** Rows in a second. */
export function rate(rows: number, milliseconds: number): number {
  return Math.round((rows * 1000) / Math.max(milliseconds, 1));
}
