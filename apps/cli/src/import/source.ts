import { open, realpath } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { usageError } from '../command-line/errors.ts';

export interface ImportSource {
  input: Readable;
  /** The size in bytes. Undefined for standard input and named pipes. */
  size: number | undefined;
  /** The bytes that have been read so far. */
  bytesRead(): number;
}

/**
 * Opens the file to import, or standard input for `-`.
 *
 * @throws CommandError when the file cannot be read.
 */
export async function openSource(file: string): Promise<ImportSource> {
  if (file === '-') return { input: process.stdin, size: undefined, bytesRead: () => 0 };
  const handle = await open(file).catch((cause) => {
    throw usageError(`cannot read ${file}: check its name and its permissions`, { cause });
  });
  const stats = await handle.stat();
  if (stats.isDirectory()) {
    await handle.close();
    throw usageError(`cannot read ${file}: it is a directory, so name a file`);
  }
  const input = handle.createReadStream({ highWaterMark: 512 * 1024 });
  const size = stats.isFile() ? stats.size : undefined;
  return { input, size, bytesRead: () => input.bytesRead };
}

/** Whether two paths lead to the same file. `-` is not a path, but `./-` is a path. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  if (one === '-' || other === '-') return false;
  const [a, b] = await Promise.allSettled([realpath(one), realpath(other)]);
  return a.status === 'fulfilled' && b.status === 'fulfilled' && a.value === b.value;
}
