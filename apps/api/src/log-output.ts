import pino from 'pino';

/**
 * Standard output for the log. Each write is a system call, so the lines of one turn of the event
 * loop go together, and several turns' where there is much to say; within 100 ms, and at the exit.
 * A reader that is stuck loses lines, beyond 16 MiB of them, and holds up nothing.
 */
export function logOutput(): pino.DestinationStream {
  const output = pino.destination({
    sync: false,
    minLength: 4096,
    maxLength: 16 * 2 ** 20,
    periodicFlush: 100,
  });
  let lines = '';
  const pass = () => {
    if (lines) output.write(lines);
    lines = '';
  };
  process.prependListener('exit', pass); // Ahead of the output's own, which flushes it.
  return {
    write(line) {
      if (!lines) setImmediate(pass);
      lines += line;
    },
  };
}
