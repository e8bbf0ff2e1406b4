import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { formatJson } from '@plant-store/schemas';

/** Writes a text, and waits while the reader is slow. */
export async function write(text: string, output: Writable = process.stdout): Promise<void> {
  if (!output.write(text)) await once(output, 'drain');
}

/** Writes values as lines of JSON, with exact ids. */
export async function writeJson(...values: object[]): Promise<void> {
  if (values.length > 0) await write(values.map((value) => `${formatJson(value)}\n`).join(''));
}

/** Halves the memory of a command that handles millions of plants. The plants live only shortly. */
export function limitMemory(): void {
  setFlagsFromString('--optimize-for-size');
}
