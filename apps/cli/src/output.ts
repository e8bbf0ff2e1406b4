import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { formatJson } from '@plant-store/schemas';

/** Writes a text, and waits while the reader is slow. */
export async function write(text: string, output: Writable = process.stdout): Promise<void> {
  if (!output.write(text)) await once(output, 'drain');
}

/** Writes values as lines of JSON, with exact ids. */
export async function writeJson(...values: object[]): Promise<void> {
  if (values.length > 0) await write(values.map((value) => `${formatJson(value)}\n`).join(''));
}
