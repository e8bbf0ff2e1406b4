import { accessSync, constants, statfsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DataDirectoryError } from '../errors.ts';

/**
 * Locks the data directory for this process, and creates the directory if it does not exist. If two processes
 * ran PGlite on one directory, the store would lose acknowledged plants.
 *
 * The lock is a file lock of the operating system. The lock ends when the process ends. Nobody can take the
 * lock from a running process. In Node, only SQLite offers file locks.
 *
 * @returns a function that unlocks the directory.
 * @throws DataDirectoryError when the directory is not writable or another process has the lock. The error's
 *   message names the other process.
 */
export async function lockDataDirectory(directory: string): Promise<() => void> {
  const holder = join(directory, 'lock-holder');
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const unlock = lock(join(directory, 'lock'));
    const text = `process ${process.pid}, started ${new Date().toISOString()}\n`;
    // If the disk is full, the store opens without this file, so that clients can still read plants.
    await writeFile(holder, text).catch((error) => {
      if (error.code !== 'ENOSPC') throw error;
    });
    return unlock;
  } catch (cause) {
    const name = await readFile(holder, 'utf8').catch(() => '');
    const why = isBusy(cause)
      ? `is in use by ${name.trim() || 'another process'}: stop that process`
      : `cannot be used (${cause instanceof Error ? cause.message : cause}): make it writable`;
    const message = `the data directory ${directory} ${why}, or choose another directory`;
    throw new DataDirectoryError(message, { cause });
  }
}

function lock(path: string): () => void {
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    // With a journal in memory, SQLite leaves no file behind. The transaction writes nothing.
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    // SQLite reports no error when this user may not write the file, but does not lock the file.
    accessSync(path, constants.W_OK);
  } catch (error) {
    file.close();
    throw error;
  }
  return () => file.close();
}

/** The code SQLITE_BUSY means that another connection has the lock (https://sqlite.org/rescode.html#busy). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

/**
 * The MiB that must stay free on the disk. When the disk has no room for the next segment of 16 MiB of the log,
 * a statement of PGlite never returns.
 */
const reserve = 64;

/** @throws an error with the SQLSTATE of a full disk */
export function throwWithoutRoom(directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  const free = Math.floor((bavail * bsize) / 2 ** 20);
  if (free >= reserve) return;
  const message =
    `no room on the disk of the data directory: ${free} MiB are free, ` +
    `and the embedded database needs ${reserve} MiB`;
  throw Object.assign(new Error(message), { code: '53100', severity: 'ERROR' });
}
