import { once } from 'node:events';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  realpath,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { CommandError, exitCodes } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';

export interface RejectsFile {
  /** @param header the start of the file. Only the first call writes the header. */
  add(header: string, text: string): Promise<void>;
  /** Closes the file, and removes an empty file. */
  close(): Promise<void>;
}

/**
 * The name of the directory for rejects files, beside the imported file. Git ignores the files in this
 * directory.
 */
const directoryName = 'plant-store-rejects';

/**
 * Returns the default path for the rejects file of an imported file. Standard input and a process
 * substitution (`/dev/fd/63`) have no directory and no name of their own. Their rejects file is in the
 * current directory, and its name keeps imports that run at the same time apart.
 */
export function defaultRejectsPath(file: string): string {
  const isStream = file === '-' || /^\/(dev|proc)\//.test(file);
  const [directory, name] = isStream
    ? ['.', `import-${process.pid}`]
    : [dirname(file), basename(file)];
  const isRejectsFile = basename(resolve(directory)) === directoryName;
  return join(directory, isRejectsFile ? '' : directoryName, `${name}.rejects`);
}

/** Whether two paths name the same file. `-` is not a path, but `./-` is a path. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  if (one === '-' || other === '-') return false;
  const [a, b] = await Promise.allSettled([realpath(one), realpath(other)]);
  return a.status === 'fulfilled' && b.status === 'fulfilled' && a.value === b.value;
}

/**
 * Opens a rejects file, and removes the old content. `-` is standard output.
 *
 * @throws CommandError when the path is not writable. Later, `add` throws this error when a write fails.
 */
export async function openRejectsFile(path: string): Promise<RejectsFile> {
  if (path === '-') return standardOutput();
  const isInOurDirectory = basename(dirname(path)) === directoryName;
  const openFile = isInOurDirectory ? openInOurDirectory : openEmpty;
  const file = await openFile(path).catch((cause) => {
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
    if (isEmpty && isInOurDirectory) await removeIfUnused(dirname(path));
  };
  return withHeader(add, close);
}

const openEmpty = (path: string) => open(path, 'w');

async function openInOurDirectory(path: string): Promise<FileHandle> {
  const directory = dirname(path);
  const openOnce = async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, ignoreFile), '*\n');
    return openEmpty(path);
  };
  // Between these steps, another import may have removed the directory.
  return openOnce().catch(openOnce);
}

const ignoreFile = '.gitignore';

async function removeIfUnused(directory: string): Promise<void> {
  // Another import may already have removed the directory.
  const names = await readdir(directory).catch(() => []);
  if (names.some((name) => name !== ignoreFile)) return;
  await rm(join(directory, ignoreFile), { force: true });
  // When another import uses the directory, `rmdir` fails and the directory stays.
  await rmdir(directory).catch(() => {});
}

function standardOutput(): RejectsFile {
  const texts = new PassThrough({ objectMode: true, highWaterMark: 1 });
  const isWritten = writeOutput(texts);
  isWritten.catch(() => {}); // Ignores the error here, because `close` throws it later.
  const add = async (text: string) => {
    // When the reader has closed the pipe, nothing can be written.
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

/** Whether an opened file is a regular file without content. The device /dev/null is not a regular file. */
async function isEmptyFile(file: FileHandle): Promise<boolean> {
  const stats = await file.stat();
  return stats.isFile() && stats.size === 0;
}
