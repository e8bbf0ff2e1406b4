import { writeSync } from 'node:fs';
import type pino from 'pino';

/** Characters that may wait to be written; a line beyond them is lost. */
const maxWaiting = 16 * 2 ** 20;

/** Characters that are worth a system call. */
const enough = 4096;

/** Milliseconds for which the lines wait until there are enough of them. */
const patience = 100;

/** Milliseconds until what could not be written is tried again. */
const retryDelay = 10;

/** Milliseconds for which the process ends later than it could, where lines are left. */
const exitDeadline = 1_000;

/**
 * Standard output for the log. Each write is a system call, so the lines of one turn of the event
 * loop go together, and several turns' where there is much to say. A reader that is stuck and a disk
 * that is full lose lines once 16 MiB of them wait, and hold up nothing.
 */
export function logOutput(): pino.DestinationStream {
  void process.stdout; // With this, Node makes a write fail where it would wait for a pipe's reader.
  let lines = '';
  let begun = Buffer.alloc(0); // What a write has left.
  let isDue = false;

  setInterval(() => isDue || pass(), patience).unref();
  process.on('exit', () => {
    const deadline = performance.now() + exitDeadline;
    while (!writeAll() && performance.now() < deadline) sleep(retryDelay);
  });

  return {
    write(line) {
      if (begun.length + lines.length + line.length > maxWaiting) return;
      lines += line;
      if (isDue || lines.length < enough) return;
      isDue = true;
      setImmediate(pass);
    },
  };

  function pass(): void {
    isDue = !writeAll();
    if (isDue) setTimeout(pass, retryDelay).unref();
  }

  /** Writes what waits, as far as that goes now, and returns whether that was all. */
  function writeAll(): boolean {
    try {
      while (begun.length > 0 || lines) {
        if (begun.length === 0) [begun, lines] = [Buffer.from(lines), ''];
        begun = begun.subarray(writeSync(1, begun));
      }
      return true;
    } catch {
      return false; // There is no room, or nobody to tell.
    }
  }
}

/** Holds up the whole process. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
