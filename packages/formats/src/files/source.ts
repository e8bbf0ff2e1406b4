import { close, constants, createReadStream, fstat, open } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { FileError } from '../text/file-error.ts';

/** An open file or a stream. */
export interface Source {
  input: Readable;
  /** The size in bytes. Undefined for a stream and for a named pipe. */
  size: number | undefined;
  /** Returns the number of bytes that have been read so far. */
  bytesRead(): number;
}

/**
 * @param signal stops the wait for the writer of a named pipe
 * @throws FileError when the file cannot be read
 */
export async function openSource(file: string | Readable, signal?: AbortSignal): Promise<Source> {
  if (typeof file !== 'string') return { input: file, size: undefined, bytesRead: () => 0 };
  const fd = await openFile(file, signal).catch((cause) => {
    throw new FileError(`cannot read ${file}: check its name and its permissions`, { cause });
  });
  const stats = await promisify(fstat)(fd);
  if (stats.isDirectory()) {
    await promisify(close)(fd);
    throw new FileError(`cannot read ${file}: it is a directory, so name a file`);
  }
  // The read of a file stream occupies a thread. Node waits for its threads before it exits, and a pipe may
  // never have data.
  if (stats.isFIFO()) {
    const input = new Socket({ fd, readable: true, writable: false });
    return { input, size: undefined, bytesRead: () => input.bytesRead };
  }
  const input = createReadStream(file, { fd, highWaterMark: 512 * 1024 });
  const size = stats.isFile() ? stats.size : undefined;
  return { input, size, bytesRead: () => input.bytesRead };
}

/** Opening a named pipe occupies a thread until there is a writer. After the signal, this is the writer. */
async function openFile(file: string, signal: AbortSignal | undefined): Promise<number> {
  const { O_WRONLY, O_NONBLOCK } = constants;
  const openAsWriter = () => open(file, O_WRONLY | O_NONBLOCK, (_, fd) => fd && close(fd));
  signal?.addEventListener('abort', openAsWriter);
  try {
    return await promisify(open)(file, 'r');
  } finally {
    signal?.removeEventListener('abort', openAsWriter);
  }
}
