import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { FileError } from '../text/file-error.ts';

/** An open file or a stream. */
export interface Source {
  input: Readable;
  /** The size in bytes. Undefined for a stream and for a named pipe. */
  size: number | undefined;
  /** Returns the number of bytes that have been read so far. */
  bytesRead(): number;
}

/** @throws FileError when the file cannot be read */
export async function openSource(file: string | Readable): Promise<Source> {
  if (typeof file !== 'string') return { input: file, size: undefined, bytesRead: () => 0 };
  const handle = await open(file).catch((cause) => {
    throw new FileError(`cannot read ${file}: check its name and its permissions`, { cause });
  });
  const stats = await handle.stat();
  if (stats.isDirectory()) {
    await handle.close();
    throw new FileError(`cannot read ${file}: it is a directory, so name a file`);
  }
  const input = handle.createReadStream({ highWaterMark: 512 * 1024 });
  const size = stats.isFile() ? stats.size : undefined;
  return { input, size, bytesRead: () => input.bytesRead };
}
