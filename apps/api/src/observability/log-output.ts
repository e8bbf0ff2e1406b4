import { writeSync } from 'node:fs';
import type pino from 'pino';

/** The most characters that wait to be written. Further lines are lost. */
const maxWaiting = 16 * 2 ** 20;

/** When this many characters wait, they are written before the interval ends. */
const flushSize = 4096;

/** Milliseconds between two writes when there are few lines. */
const flushInterval = 100;

/** Milliseconds until a failed write is tried again. */
const retryDelay = 10;

/** Milliseconds for which the process, when it exits, tries to write the last lines. */
const exitTimeout = 1_000;

/**
 * Writes the log to standard output. Each write is a system call, so lines are written together, up
 * to 100 ms later. When nobody reads the pipe or the disk is full, up to 16 MiB of lines wait and
 * further lines are lost. Requests never wait.
 */
export function logOutput(): pino.DestinationStream {
  void process.stdout; // Node then sets the pipe to non-blocking: a write to a full pipe fails.
  let lines = '';
  let unwritten = Buffer.alloc(0); // The rest of a partial write.
  let isScheduled = false;

  setInterval(() => isScheduled || flush(), flushInterval).unref();
  process.on('exit', () => {
    const until = performance.now() + exitTimeout;
    while (!writeAll() && performance.now() < until) sleep(retryDelay);
  });

  return {
    write(line) {
      if (unwritten.length + lines.length + line.length > maxWaiting) return;
      lines += line;
      if (isScheduled || lines.length < flushSize) return;
      isScheduled = true;
      setImmediate(flush);
    },
  };

  function flush(): void {
    isScheduled = !writeAll();
    if (isScheduled) setTimeout(flush, retryDelay).unref();
  }

  /** Writes the waiting lines as far as possible, and returns whether all are written. */
  function writeAll(): boolean {
    try {
      while (unwritten.length > 0 || lines) {
        if (unwritten.length === 0) [unwritten, lines] = [Buffer.from(lines), ''];
        unwritten = unwritten.subarray(writeSync(1, unwritten));
      }
      return true;
    } catch {
      return false; // The pipe or the disk is full, or the reader has closed the pipe.
    }
  }
}

/** Blocks the whole process. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
