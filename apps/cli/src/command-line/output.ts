import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Writes texts to standard output, with backpressure. */
export async function writeOutput(texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  try {
    const output = Readable.from(noted(texts), { highWaterMark: 1 });
    await pipeline(output, process.stdout, { end: false });
  } catch (error) {
    // The error means that the reader has closed the pipe, as in `plant-store export | head`.
    if (!isBrokenPipe(error)) throw error;
  }
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

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
