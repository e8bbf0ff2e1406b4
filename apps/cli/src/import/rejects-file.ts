import { once } from 'node:events';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { CommandError, exitCodes } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';

/** The list of the rejected rows. */
export interface RejectsFile {
  /** @param header what the file starts with */
  add(header: string, text: string): Promise<void>;
  /** Closes the file, and removes it when it is empty. */
  close(): Promise<void>;
}

/**
 * Opens a rejects file, and empties it. `-` is standard output.
 *
 * @throws CommandError when the path is not writable, as `add` does.
 */
export async function openRejectsFile(path: string): Promise<RejectsFile> {
  if (path === '-') return standardOutput();
  const file = await open(path, 'w').catch((cause) => {
    throw notWritable(path, { cause, exitCode: exitCodes.usage });
  });
  const add = (text: string) =>
    file.appendFile(text).catch((cause) => {
      throw notWritable(path, { cause });
    });
  const close = async () => {
    const isEmpty = await isEmptyFile(file);
    await file.close();
    if (isEmpty) await rm(path, { force: true });
  };
  return withHeader(add, close);
}

function standardOutput(): RejectsFile {
  const texts = new PassThrough({ objectMode: true, highWaterMark: 1 });
  const isWritten = writeOutput(texts);
  isWritten.catch(() => {}); // `close` throws its error.
  const add = async (text: string) => {
    // The reader may have closed the pipe.
    if (!texts.destroyed && !texts.write(text))
      await Promise.race([once(texts, 'drain'), isWritten]);
  };
  const close = () => {
    texts.end();
    return isWritten;
  };
  return withHeader(add, close);
}

function withHeader(add: (text: string) => Promise<void>, close: () => Promise<void>): RejectsFile {
  let hasHeader = false;
  return {
    async add(header, text) {
      await add(hasHeader ? text : header + text);
      hasHeader = true;
    },
    close,
  };
}

function notWritable(path: string, options: { cause: unknown; exitCode?: number }) {
  const message = `cannot write the rejected rows to ${path}: name another file with --rejects`;
  return new CommandError(message, options);
}

/** Whether it is a file without content, and not a device such as /dev/null. */
async function isEmptyFile(file: FileHandle): Promise<boolean> {
  const stats = await file.stat();
  return stats.isFile() && stats.size === 0;
}
