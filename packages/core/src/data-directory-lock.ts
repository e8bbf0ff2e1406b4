import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process has the data directory open. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';
}

/**
 * Takes the data directory for this process, making it when it is not there. Two PGlites on one
 * directory would lose acknowledged plants.
 *
 * The lock is the operating system's, on a file, so it is gone with the process however that ends
 * and never taken from a living one. Node offers file locks through SQLite alone.
 *
 * @returns a function that gives the directory back.
 * @throws DataDirectoryInUseError that names the holder.
 */
export async function lockDataDirectory(directory: string): Promise<() => void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(directory, 'lock'), { timeout: 0 });
  const holder = join(directory, 'lock-holder');
  try {
    // Nothing is ever written to the file, so no journal can be left beside it.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw new DataDirectoryInUseError(
      `the data directory ${resolve(directory)} is in use by ${await name(holder)}: ` +
        'stop that process, or choose another directory',
      { cause },
    );
  }
  await writeFile(holder, `process ${process.pid}, started ${new Date().toISOString()}\n`);
  return () => lock.close();
}

async function name(holder: string): Promise<string> {
  const text = await readFile(holder, 'utf8').catch(() => '');
  return text.trim() || 'another process';
}
