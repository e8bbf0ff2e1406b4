import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandError } from './errors.ts';

/** Writes texts to standard output. Waits while the reader of the output is slow. */
export async function writeOutput(texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  try {
    const output = Readable.from(noted(texts), { highWaterMark: 1 });
    await pipeline(output, process.stdout, { end: false });
  } catch (error) {
    handleOutputError(error);
  }
}

/**
 * Ignores the error of a pipe that the reader has closed, as in `plant-store export | head`.
 *
 * @throws CommandError when the disk is full, or any other error unchanged
 */
export function handleOutputError(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EPIPE') return;
  if (code !== 'ENOSPC') throw error;
  const message =
    'the disk of the output is full, so the output is incomplete: free some room, and run the command again';
  throw new CommandError(message, { cause: error });
}

/** Whether the program has written anything to standard output. */
export function hasOutput(): boolean {
  return isWritten;
}

let isWritten = false;

async function* noted(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) {
    isWritten ||= text !== '';
    yield text;
  }
}
