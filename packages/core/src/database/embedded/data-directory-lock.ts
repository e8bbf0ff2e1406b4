import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The data directory cannot be used: another process has it open, or it cannot be written to. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

/**
 * Takes the data directory for this process, making it when it is not there. Two PGlites on one
 * directory would lose acknowledged plants.
 *
 * The lock is the operating system's, on a file, so it is gone with the process however that ends
 * and never taken from a living one. Node offers file locks through SQLite alone.
 *
 * @returns a function that gives the directory back.
 * @throws DataDirectoryError that names the holder, or what is wrong with the directory.
 */
export async function lockDataDirectory(directory: string): Promise<() => void> {
  const holder = join(directory, 'lock-holder');
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const unlock = lockFile(join(directory, 'lock'));
    await writeFile(holder, `process ${process.pid}, started ${new Date().toISOString()}\n`);
    return unlock;
  } catch (cause) {
    const problem = isBusy(cause)
      ? `is in use by ${await name(holder)}: stop that process`
      : `cannot be used (${cause instanceof Error ? cause.message : cause}): make it writable`;
    const message = `the data directory ${resolve(directory)} ${problem}, or choose another directory`;
    throw new DataDirectoryError(message, { cause });
  }
}

function lockFile(path: string): () => void {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written to the file, so no journal can be left beside it.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw error;
  }
  return () => lock.close();
}

/** SQLITE_BUSY: somebody else has the lock (https://sqlite.org/rescode.html#busy). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

async function name(holder: string): Promise<string> {
  const text = await readFile(holder, 'utf8').catch(() => '');
  return text.trim() || 'another process';
}
