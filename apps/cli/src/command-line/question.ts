import { createInterface } from 'node:readline';

/** Whether a person can read a question on stderr and answer it. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks a question on stderr, because standard output may be a pipe. Only yes is a yes. */
export async function confirm(
  question: string,
  { input = process.stdin, output = process.stderr }: Partial<Streams> = {},
): Promise<boolean> {
  output.write(`${question} [y/N] `);
  // Without `terminal`, Ctrl+C ends the process and its question, as in other commands.
  const lines = createInterface({ input, terminal: false });
  for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line);
  output.write('\n'); // Ctrl+D ends the input without a line.
  return false;
}

interface Streams {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}
