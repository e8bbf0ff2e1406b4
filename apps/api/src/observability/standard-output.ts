import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Standard output, which never blocks the event loop. */
export interface StandardOutput {
  /** Writes bytes and calls `done` with how many were written: 0 when it takes none at present. */
  write(bytes: Buffer, done: (written: number) => void): void;
  /** Since when a thread has been writing, by `performance.now`; undefined while none does. */
  readonly writingSince: number | undefined;
  /** Writes bytes at once and returns how many were written. Only for the end of the process. */
  writeSync(bytes: Buffer): number;
}

/**
 * Opens standard output. A write to a full pipe, or to a terminal that somebody has stopped with
 * Ctrl-S, fails at once, because the file is non-blocking. A write to a file cannot be: when the disk
 * stalls, it blocks the thread that writes. So one of Node's threads writes to files.
 */
export function openStandardOutput(): StandardOutput {
  const nonBlocking = openNonBlocking();
  const fd = nonBlocking ?? 1;
  let writingSince: number | undefined;

  const output = {
    get writingSince() {
      return writingSince;
    },
    writeSync(bytes: Buffer) {
      try {
        return writeSync(fd, bytes);
      } catch {
        return 0; // The pipe or the disk is full, or the reader has closed the pipe.
      }
    },
    write(bytes: Buffer, done: (written: number) => void) {
      if (nonBlocking !== undefined) return done(output.writeSync(bytes));
      writingSince = performance.now();
      write(fd, bytes, (error, written) => {
        writingSince = undefined;
        done(error ? 0 : written);
      });
    },
  };
  return output;
}

/** A file descriptor for standard output that never blocks; undefined when there is none. */
function openNonBlocking(): number | undefined {
  if (!isatty(1)) {
    // Without `bigint`, Node 22 resolves no symlink after it has looked at a pipe (nodejs/node#51142).
    if (fstatSync(1, { bigint: true }).isFile()) return undefined;
    void process.stdout; // Node then sets the pipe to non-blocking.
    return 1;
  }
  // The shell shares the terminal's file descriptor, so this opens the terminal once more. Other
  // systems than Linux only duplicate the descriptor.
  if (process.platform !== 'linux') return undefined;
  try {
    return openSync('/dev/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined; // The terminal belongs to another user, for example after `su`.
  }
}
