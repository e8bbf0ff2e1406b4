import { statSync } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * The error for a data directory that the store cannot use, for example because another process has the lock.
 */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

/** A process must lock this file before it uses the data directory. */
export const lockFile = 'lock';

/** A file that Postgres creates and never changes. */
const versionFile = join('postgres', 'PG_VERSION');

/** An empty file. If this file exists, a database was created in the data directory. */
const inUseFile = 'in-use';

/** Writes the file `in-use` into the directory, so that `checkNotDamaged` can notice a lost database. */
export async function markInUse(directory: string): Promise<void> {
  await writeFile(join(directory, inUseFile), '');
}

/**
 * Throws when the database is lost. Without this check, PGlite would create an empty database in the
 * directory.
 */
export async function checkNotDamaged(directory: string): Promise<void> {
  if ((await exists(directory, inUseFile)) && !(await hasDatabase(directory))) {
    throw new DataDirectoryError(
      `the database in ${directory} is damaged, postgres/PG_VERSION is missing: ` +
        'restore it from a backup, or choose another directory',
    );
  }
}

/** @throws DataDirectoryError when the directory has never had a database */
export async function checkHasDatabase(directory: string): Promise<void> {
  if ((await exists(directory, inUseFile)) || (await hasDatabase(directory))) return;
  throw new DataDirectoryError(
    `there is no store in ${directory}: start the server or import plants to create one, ` +
      'or set DATABASE_URL or PLANT_STORE_DATA_DIR to the store',
  );
}

/**
 * Returns an identifier of a directory's lock file and database. The identifier contains times, because a new
 * file can get the inode number of a deleted file.
 */
export function directoryId(directory: string): string {
  const files = [lockFile, versionFile].map((name) =>
    statSync(join(directory, name), { bigint: true, throwIfNoEntry: false }),
  );
  return files.map((file) => file && `${file.dev} ${file.ino} ${file.birthtimeNs}`).join();
}

/**
 * Checks that nobody has replaced the directory or its database since this process locked the directory.
 * PGlite opens files by path. If somebody replaced the directory, PGlite would write into the new directory,
 * or into deleted files.
 *
 * @param id the result of `directoryId` from the time when this process opened the directory.
 * @throws DataDirectoryError when the directory or its database was moved, deleted or replaced.
 */
export function checkNotReplaced(directory: string, id: string): void {
  if (directoryId(directory) === id) return;
  throw new DataDirectoryError(
    `the data directory ${resolve(directory)} or the database in it was moved, deleted or replaced while ` +
      'this process had it open: put it back, or start the process again to use the new one',
  );
}

/**
 * Returns an identifier of a database's files. Copied files get another identifier, because their inode
 * number or change time is different.
 */
export function copyId(directory: string): string {
  const { ino, ctimeNs } = statSync(join(directory, versionFile), { bigint: true });
  return `${ino} ${ctimeNs}`;
}

export function hasDatabase(directory: string): Promise<boolean> {
  return exists(directory, versionFile);
}

function exists(...path: string[]): Promise<boolean> {
  return access(join(...path)).then(
    () => true,
    () => false,
  );
}
