import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DataDirectoryError } from '../errors.ts';

/**
 * Locks the data directory for this process, and creates the directory if it does not exist. If two processes
 * ran PGlite on one directory, the store would lose acknowledged plants. The operating system releases the
 * file lock when the process ends. In Node, only SQLite offers file locks.
 *
 * @returns a function that unlocks the directory.
 * @throws DataDirectoryError when the directory is not writable or another process has the lock. The error's
 *   message names the other process.
 */
export async function lockDataDirectory(directory: string): Promise<() => void> {
  const holder = join(directory, 'lock-holder');
  let file: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    file = new DatabaseSync(join(directory, 'lock'), { timeout: 0 });
    // The journal in memory avoids a further file. The transaction holds the lock, and writes nothing.
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    writeFileSync(holder, `process ${process.pid}, started ${new Date().toISOString()}`);
  } catch (cause) {
    file?.close();
    // SQLITE_BUSY: another connection has the lock (https://sqlite.org/rescode.html#busy).
    const isBusy = Object(cause).errcode === 5;
    const name = isBusy && (await readFile(holder, 'utf8').catch(() => 'another process'));
    const why = isBusy
      ? `is in use by ${name}: stop that process`
      : `cannot be used (${Object(cause).message}): make it writable`;
    const message = `the data directory ${directory} ${why}, or choose another directory`;
    throw new DataDirectoryError(message, { cause });
  }
  return () => file.close();
}

/**
 * How many MiB must stay free on the disk. When the disk has no room for the next log segment of 16 MiB, a
 * statement of PGlite never returns.
 */
const reserve = 64;

/** Throws an error with the SQLSTATE of a full disk if less than `reserve` is free. */
export function throwWithoutRoom(directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  const free = Math.floor((bavail * bsize) / 2 ** 20);
  if (free >= reserve) return;
  const message = `the disk of the data directory has ${free} MiB free, and must have ${reserve} MiB`;
  throw Object.assign(new Error(message), { code: '53100', severity: 'ERROR' });
}
