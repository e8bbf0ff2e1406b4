import { closeSync, openSync } from 'node:fs';
import { access, constants, readdir, statfs } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import type { Rows } from '../database/query.ts';
import { lockDataDirectory } from './data-directory-lock.ts';
import {
  checkNotDamaged,
  checkNotReplaced,
  DataDirectoryError,
  directoryId,
  hasDatabase,
} from './data-directory-state.ts';
import { isNoRoomError, noRoomError } from './free-room.ts';
import type { Statement } from './pglite-messages.ts';
import { PGliteThread } from './pglite-thread.ts';

/**
 * The time limit for opening the database for the first time in this process, in milliseconds. PGlite may
 * have to create the database, or to replay a long log after a crash.
 */
const openTimeout = 10 * 60_000;

/**
 * The time limit for opening the database again, in milliseconds. When PGlite opens the database again,
 * PGlite has only a short log to replay.
 */
const reopenTimeout = 30_000;

/** The pause after a failed attempt to open the database again, in milliseconds. */
const reopenInterval = 1_000;

/**
 * The database in a data directory. When the thread has ended, the next statement opens the database again.
 * When PGlite opens the database, PGlite replays the log, so the store loses no committed plant.
 */
export class PGliteConnection {
  readonly #directory: string;
  readonly #unlock: () => void;
  /** The identifier of the directory that this process has opened. */
  readonly #directoryId: string;
  /** Undefined if the next statement must open the database again. */
  #thread: Promise<PGliteThread> | undefined;
  #isClosed = false;

  /**
   * Locks a directory, and opens the database in the directory.
   *
   * @throws DataDirectoryError when another process has the directory open, the directory is not
   *   writable, its disk has no room, or the database in it is damaged
   */
  static async open(directory: string): Promise<PGliteConnection> {
    // The thread already starts while this process locks and checks the directory.
    let thread = new PGliteThread(directory);
    let unlock: (() => void) | undefined;
    try {
      unlock = await lockDataDirectory(directory);
      await checkNotDamaged(directory);
      const isNew = !(await hasDatabase(directory));
      const noRoom = isNew && noRoomError(await statfs(directory));
      if (noRoom) throw noRoom;
      await thread.run('open', openTimeout);
      if (isNew) {
        // A thread that has created a database keeps over 100 MB of unused memory, so a new thread replaces
        // the old thread.
        await thread.close();
        thread = new PGliteThread(directory);
        await thread.run('open', reopenTimeout);
      }
      return new PGliteConnection(directory, unlock, thread);
    } catch (error) {
      // Check for free file descriptors before `thread.close()`, which frees descriptors and would hide the
      // shortage.
      const shortage = fileDescriptorShortage();
      await thread.close();
      unlock?.();
      throw openError(directory, shortage ?? (await forbiddenFile(directory)) ?? error);
    }
  }

  private constructor(directory: string, unlock: () => void, thread: PGliteThread) {
    this.#directory = directory;
    this.#unlock = unlock;
    this.#directoryId = directoryId(directory);
    this.#thread = this.#forgetWhenEnded(Promise.resolve(thread));
  }

  /**
   * Runs a statement after all earlier statements.
   *
   * @param timeout the time limit in milliseconds. After this time, the thread is ended, and the statement is
   *   rejected
   */
  async run(statement: Statement, timeout?: number): Promise<Rows> {
    if (this.#isClosed) throw new Error('the embedded database is closed');
    this.#thread ??= this.#forgetWhenEnded(this.#reopen());
    return (await this.#thread).run(statement, timeout);
  }

  /** Waits for all earlier statements, closes the database and unlocks the directory. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = await this.#thread?.catch(() => undefined);
    await thread?.close();
    this.#unlock();
  }

  async #reopen(): Promise<PGliteThread> {
    let thread: PGliteThread | undefined;
    try {
      await checkNotDamaged(this.#directory);
      checkNotReplaced(this.#directory, this.#directoryId);
      thread = new PGliteThread(this.#directory);
      await thread.run('open', reopenTimeout);
      return thread;
    } catch (error) {
      await thread?.close();
      throw openError(this.#directory, error);
    }
  }

  #forgetWhenEnded(opening: Promise<PGliteThread>): Promise<PGliteThread> {
    const forget = () => {
      this.#thread = undefined;
    };
    opening.then(
      (thread) => thread.ended.then(forget),
      () => setTimeout(forget, reopenInterval).unref(),
    );
    return opening;
  }
}

/**
 * Returns an error if this process has almost no free file descriptors. The errors of PGlite and SQLite do
 * not mention file descriptors. After an error, PGlite or SQLite may have closed a few files, so the check
 * opens several files.
 */
function fileDescriptorShortage(): unknown {
  const opened: number[] = [];
  try {
    while (opened.length < 16) opened.push(openSync(devNull, 'r'));
    return undefined;
  } catch (error) {
    return error;
  } finally {
    for (const each of opened) closeSync(each);
  }
}

/**
 * Returns an error if this user may not read or write a file of the database, such as a file that root has
 * created. The errors of PGlite do not mention files.
 */
async function forbiddenFile(directory: string): Promise<unknown> {
  const database = join(directory, 'postgres');
  try {
    for (const name of ['.', ...(await readdir(database, { recursive: true }))]) {
      await access(join(database, name), constants.R_OK | constants.W_OK);
    }
    return undefined;
  } catch (error) {
    return isForbidden(error) ? error : undefined;
  }
}

const isForbidden = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'EACCES';

/** The error for a database that cannot be opened or migrated. */
export function openError(directory: string, cause: unknown): DataDirectoryError {
  if (cause instanceof DataDirectoryError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the database in ${directory} cannot be opened (${why}): ${remedyOf(cause, why)}`;
  return new DataDirectoryError(message, { cause });
}

function remedyOf(cause: unknown, why: string): string {
  // If a worker cannot start, the error has the code only in its message.
  if (/\bE[MN]FILE\b/.test(why)) return 'raise the limit of file descriptors (ulimit -n)';
  if (isForbidden(cause)) return 'let this user read and write all files in it';
  const remedy = isNoRoomError(cause) ? 'free some room' : 'restore it from a backup';
  return `${remedy}, or choose another directory`;
}
