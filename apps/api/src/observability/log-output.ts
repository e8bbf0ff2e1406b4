import { constants, fstatSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { isatty } from 'node:tty';
import type pino from 'pino';
import sonicBoom from 'sonic-boom';

/** The most bytes that wait to be written. Further lines are lost. */
const maxWaiting = 8 * 2 ** 20;

/**
 * Sizes in bytes. When `minLength` bytes wait, the process writes them before the interval ends. One write has
 * at most `maxWrite` bytes.
 */
const sizes = { minLength: 16 * 1024, maxWrite: 64 * 1024 };

/** Milliseconds between two writes when there are few lines. */
const flushInterval = 100;

/** Milliseconds until a failed write is tried again. */
const retryDelay = 10;

/** Before its exit, a process tries to write the last lines for at most this number of milliseconds. */
const exitTimeout = 1_000;

/** pino adds these fields of the process to each line. Lines from other code also need these fields. */
export const processBindings = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;

export interface LogOutput extends pino.DestinationStream {
  /** Waits up to a second until all lines are written. Call this function before the process exits. */
  settle(): Promise<void>;
}

/**
 * Writes the log to standard output. Each write is a system call, so one write contains many lines. A thread
 * writes, so that requests never wait for the log. When the pipe or the disk is full, or when the disk
 * stalls, the log loses lines. A later line gives the number of lost lines.
 *
 * @param onLost is called for each lost line
 */
export function logOutput(onLost = () => {}): LogOutput {
  let waiting = 0;
  let lost = 0;
  let lastAttempt = 0; // The time of the latest start or end of a write.
  let exitDeadline = Number.NEGATIVE_INFINITY;
  const output = new sonicBoom.SonicBoom({
    fd: openNonBlocking() ?? 1,
    ...sizes,
    // In its mode for strings, sonic-boom measures all waiting text again for each new line.
    contentMode: 'buffer',
    retryEAGAIN: () => performance.now() < exitDeadline,
  });
  output.on('write', (written: number) => {
    lastAttempt = performance.now();
    waiting -= written;
    addLostLine();
  });
  output.on('error', () => {
    lastAttempt = performance.now();
    setTimeout(flush, retryDelay).unref();
  });
  setInterval(flush, flushInterval).unref();
  process.on('exit', writeLastLines);

  return {
    write(line) {
      const bytes = Buffer.from(line);
      if (waiting + bytes.length <= maxWaiting) return add(bytes);
      lost++;
      onLost();
    },
    async settle() {
      const until = performance.now() + exitTimeout;
      for (; waiting > 0 && performance.now() < until; await wait(retryDelay)) flush();
    },
  };

  function add(bytes: Buffer): void {
    if (waiting === 0) lastAttempt = performance.now();
    waiting += bytes.length;
    output.write(bytes as unknown as string); // sonic-boom's types allow only a string.
  }

  function addLostLine(): void {
    if (lost === 0) return;
    const message = `${lost} log lines were lost: standard output did not take them in time`;
    const line = `{"level":40,"time":${Date.now()},${processBindings},"lost":${lost},"msg":"${message}"}\n`;
    lost = 0;
    add(Buffer.from(line));
  }

  function flush(): void {
    if (waiting > 0) output.flush();
  }

  function writeLastLines(): void {
    // Node waits for its threads before it exits. A thread that writes to a stalled disk may never end, so
    // this function kills the process.
    const isStuck = waiting > 0 && performance.now() - lastAttempt >= exitTimeout;
    if (isStuck) process.kill(process.pid, 'SIGKILL');
    exitDeadline = performance.now() + exitTimeout;
    try {
      addLostLine();
      output.flushSync();
    } catch {} // These lines are lost: the pipe or the disk is full, or the pipe is closed.
  }
}

/**
 * Opens a file descriptor that writes to standard output without blocking. When a pipe is full, or after
 * Ctrl-S in a terminal, a write fails and does not delay the exit. Returns undefined when standard output has
 * no such file descriptor, for example when standard output is a file.
 */
function openNonBlocking(): number | undefined {
  if (!isatty(1)) {
    // Without `bigint`, Node 22 cannot resolve symlinks after it has read the state of a pipe
    // (nodejs/node#51142).
    if (fstatSync(1, { bigint: true }).isFile()) return undefined;
    void process.stdout; // Reading `process.stdout` sets the pipe to non-blocking.
    return 1;
  }
  // The shell uses the same file descriptor, which must stay blocking. So this function opens the terminal
  // again. Linux then makes a new file descriptor, but other systems duplicate the shell's.
  if (process.platform !== 'linux') return undefined;
  try {
    return openSync('/dev/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined; // This user may not open the terminal, for example after `su`.
  }
}
