import type { DestinationStream } from 'pino';
import sonicBoom from 'sonic-boom';

/**
 * Writes the log to standard output. A thread writes, so that requests never wait for the log. When nobody
 * reads the log, or the disk is full, lines are lost.
 *
 * @param onLost is called for each lost line
 */
export function logOutput(onLost = () => {}): DestinationStream {
  let lastRetry = Number.POSITIVE_INFINITY;
  void process.stdout; // Reading `process.stdout` makes a pipe non-blocking, so a full pipe delays no exit.
  const output = new sonicBoom.SonicBoom({
    fd: 1,
    // One write contains many lines, because each write is a system call.
    minLength: 16 * 1024,
    maxWrite: 64 * 1024,
    periodicFlush: 100,
    maxLength: 8 * 2 ** 20, // Further lines are lost.
    // In its mode for strings, sonic-boom measures all waiting text again for each new line.
    contentMode: 'buffer',
    retryEAGAIN: () => performance.now() < lastRetry,
  });
  output.on('error', () => {}); // The next flush tries again.
  output.on('drop', onLost);
  process.on('exit', () => {
    lastRetry = performance.now() + 1_000;
    try {
      output.flushSync();
    } catch {} // These lines are lost: the pipe or the disk is full, or the pipe is closed.
  });
  // The cast is needed, because sonic-boom's types allow only a string.
  return { write: (line) => void output.write(Buffer.from(line) as unknown as string) };
}
