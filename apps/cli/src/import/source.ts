import { type FileHandle, open, realpath } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CommandFailure, exitCodes } from '../command-line/errors.ts';

export interface ImportSource {
  input: Readable;
  /** In bytes, where it is known. */
  size: number | undefined;
}

/**
 * Opens what is to be imported: a file, or standard input by the name of `-`.
 *
 * @throws CommandFailure when it cannot be read.
 */
export async function openSource(file: string): Promise<ImportSource> {
  if (file === '-') return { input: process.stdin, size: undefined };
  const cannot = (why: string, cause?: unknown) =>
    new CommandFailure(`${file} cannot be read: ${why}`, { exitCode: exitCodes.usage, cause });
  const handle = await open(file).catch((cause) => {
    throw cannot('check its name and its permissions', cause);
  });
  const stats = await handle.stat();
  if (stats.isDirectory()) {
    await handle.close();
    throw cannot('it is a directory, name a file');
  }
  // A pipe with a name has no size.
  return { input: streamOf(handle), size: stats.isFile() ? stats.size : undefined };
}

function streamOf(handle: FileHandle): Readable {
  return handle.createReadStream({ highWaterMark: 512 * 1024 });
}

/** Whether two names are the same file. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.allSettled([realpath(one), realpath(other)]);
  return a.status === 'fulfilled' && b.status === 'fulfilled' && a.value === b.value;
}
