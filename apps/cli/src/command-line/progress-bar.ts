import { SingleBar } from 'cli-progress';

/** The values that a bar shows. `value` and `total` have the same unit: rows or bytes. */
export interface ProgressOptions {
  /** The value at the end, or undefined when the end is unknown, as for standard input. */
  total: number | undefined;
  value: () => number;
  rows: () => number;
}

export interface Progress {
  update(): void;
  stop(): void;
}

export const noProgress: Progress = { update() {}, stop() {} };

const pipeFormats = {
  known: 'plant-store: {percentage}%, {rows} rows, {rate} rows/s, ETA {eta_formatted}',
  unknown: 'plant-store: {rows} rows, {rate} rows/s, {duration_formatted}',
};

/** The width of the text beside the bar when the numbers have up to eight digits. */
const textWidth = 56;
const maxBarWidth = 40;

/** Returns the format of a bar that fits the width of the terminal. */
function terminalFormats(columns: number) {
  const barWidth = Math.min(maxBarWidth, columns - textWidth);
  if (barWidth < 10) {
    return {
      barWidth: 0,
      known: '{percentage}% {rows} {rate}/s {eta_formatted}',
      unknown: '{rows} {rate}/s {duration_formatted}',
    };
  }
  return {
    barWidth,
    known: '{bar} {percentage}% | {rows} rows | {rate} rows/s | ETA {eta_formatted}',
    unknown: '{rows} rows | {rate} rows/s | {duration_formatted}',
  };
}

/** Shows a command's progress on stderr: a bar on a terminal, otherwise a line every two seconds. */
export function showProgress({ total, value, rows }: ProgressOptions): Progress {
  const stream = process.stderr;
  const { barWidth, known, unknown } = {
    barWidth: maxBarWidth,
    ...(stream.isTTY ? terminalFormats(stream.columns) : pipeFormats),
  };
  const started = performance.now();
  const bar = new SingleBar({
    stream,
    barsize: barWidth,
    format: total ? known : unknown,
    noTTYOutput: true,
    notTTYSchedule: 2_000,
    hideCursor: null, // A hidden cursor would stay hidden after the process is killed.
    gracefulExit: false,
    etaBuffer: 100,
  });
  const payload = () => ({
    rows: rows(),
    rate: rowsPerSecond(rows(), performance.now() - started),
  });
  bar.start(total ?? 1, 0, payload());
  const update = () => bar.update(total ? Math.min(value(), total) : 0, payload());
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
