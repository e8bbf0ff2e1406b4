import { setTimeout as wait } from 'node:timers/promises';
import { isatty } from 'node:tty';
import type pino from 'pino';
import { processBindings } from './process-bindings.ts';
import { openStandardOutput } from './standard-output.ts';
import { terminalLine } from './terminal-line.ts';

/** The most characters that wait to be written. Further lines are lost. */
const maxWaiting = 8 * 2 ** 20;

/** When this many characters wait, they are written before the interval ends. */
const flushSize = 16 * 1024;

/** Milliseconds between two writes when there are few lines. */
const flushInterval = 100;

/** Milliseconds until a failed write is tried again. */
const retryDelay = 10;

/** Milliseconds for which the process, when it exits, tries to write the last lines. */
const exitTimeout = 1_000;

/** Where the log goes. */
export interface LogOutput extends pino.DestinationStream {
  /** Waits up to a second for a write that is running. Call it before the process exits. */
  settle(): Promise<void>;
}

/**
 * Writes the log to standard output. Each write is a system call, so lines are written together, up
 * to 100 ms later. When nobody reads the pipe, or the disk is full or stalls, up to 8 MiB of lines
 * wait and further lines are lost. Their number is logged where they are missing. Requests never
 * wait. A terminal gets lines for people in place of JSON.
 *
 * @param onLost is called for each lost line
 */
export function logOutput(onLost = () => {}): LogOutput {
  const output = openStandardOutput();
  const format = isatty(1) ? terminalLine : (line: string) => line;
  let lines = '';
  let unwritten = Buffer.alloc(0); // The lines that are being written, or the rest of them.
  let isWriting = false;
  let lost = 0;

  setInterval(() => isWriting || flush(), flushInterval).unref();
  process.on('exit', writeLastLines);

  return {
    write(line) {
      if (unwritten.length + lines.length + line.length > maxWaiting) {
        lost++;
        onLost();
        return;
      }
      if (lost > 0) addLostLine();
      lines += format(line);
      if (isWriting || lines.length < flushSize) return;
      isWriting = true;
      setImmediate(flush);
    },
    async settle() {
      const until = performance.now() + exitTimeout;
      while (output.writingSince !== undefined && performance.now() < until) await wait(retryDelay);
    },
  };

  function flush(): void {
    if (unwritten.length === 0) takeLines();
    isWriting = unwritten.length > 0;
    if (!isWriting) return;
    output.write(unwritten, (written) => {
      unwritten = unwritten.subarray(written);
      isWriting = unwritten.length > 0 || lines.length >= flushSize;
      if (written === 0) setTimeout(flush, retryDelay).unref();
      else if (isWriting) flush();
    });
  }

  function takeLines(): void {
    if (lost > 0) addLostLine();
    unwritten = Buffer.from(lines);
    lines = '';
  }

  function addLostLine(): void {
    const message = `${lost} log lines were lost: standard output did not take them in time`;
    lines += format(
      `{"level":40,"time":${Date.now()},${processBindings},"lost":${lost},"msg":"${message}"}\n`,
    );
    lost = 0;
  }

  function writeLastLines(): void {
    const until = performance.now() + exitTimeout;
    const { writingSince } = output;
    if (writingSince !== undefined) {
      // Node waits for its threads before it exits. This one may wait for the disk for ever.
      if (writingSince <= performance.now() - exitTimeout) process.kill(process.pid, 'SIGKILL');
      unwritten = Buffer.alloc(0); // The thread writes them.
      sleep(retryDelay);
    }
    for (;;) {
      if (unwritten.length === 0) takeLines();
      if (unwritten.length === 0 || performance.now() >= until) return;
      const written = output.writeSync(unwritten);
      unwritten = unwritten.subarray(written);
      if (written === 0) sleep(retryDelay);
    }
  }
}

/** Blocks the whole process. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
