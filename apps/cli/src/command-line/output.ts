import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Writes texts to standard output, with backpressure. */
export async function writeOutput(texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(texts, { highWaterMark: 1 }), process.stdout, { end: false });
  } catch (error) {
    // The reader has closed the pipe because it has enough, as in `plant-store export | head`.
    if (!isBrokenPipe(error)) throw error;
  }
}

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
