import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseCode, rootMessage } from '../../plant-store-error.ts';
import { type Database, DataDirectoryError, type Kind, type Query } from '../database.ts';
import { defaultTimeout, timeText } from '../deadline.ts';
import { migrate } from '../migration.ts';
import { Pool } from '../pool.ts';
import { Engine } from './engine.ts';
import { lockDataDirectory } from './lock.ts';

/** PGlite has one session. One statement of each kind may wait for it. */
const connections: Readonly<Record<Kind, number>> = {
  ...{ creates: 1, deletes: 1, reads: 1 },
  ...{ counts: 1, searches: 1, changes: 1 },
};

/** The system's clock, even in a test that replaces `Date.now`. PGlite runs in another thread. */
const { now } = Date;

/** After this time, the engine is opened again. The callers have got an error before. */
const requestTimeout = defaultTimeout + 1_000;
const bulkTimeout = 60_000;

/**
 * Opens and migrates the embedded database: PGlite, a Postgres in a thread of this process, with its files in
 * a directory. Committed plants survive a crash of the process. A power cut may lose committed plants, because
 * PGlite does not call fsync.
 *
 * @throws DataDirectoryError when another process has the directory open, the directory is not writable, its
 *   disk has no room, or the database cannot be opened
 */
export async function openEmbedded(directory: string): Promise<Database> {
  const engine = await openEngine(directory);
  await migrate(queryOn(engine)).catch(async (error) => {
    await engine.close();
    throw openError(directory, error);
  });
  return new Pool({
    connections,
    async open(kind) {
      const isBulk = kind === 'counts' || kind === 'searches' || kind === 'changes';
      const timeout = isBulk ? bulkTimeout : requestTimeout;
      return {
        isOpen: true,
        openedAt: performance.now(),
        query: (text, values) => engine.run({ text, values, asObjects: false }, timeout),
        timeOf: (deadline) => timeText(now() + deadline - performance.now()),
        drop() {},
      };
    },
    // The engine itself ends a statement that takes too long.
    working: async (overdue) => overdue,
    close: () => engine.close(),
  });
}

/** Calls `use` with the session of a database that is not migrated. Returns undefined without a database. */
export async function useEmbedded<T>(
  directory: string,
  use: (query: Query) => Promise<T>,
): Promise<T | undefined> {
  if (!(await hasDatabase(directory))) return undefined;
  const engine = await openEngine(directory);
  return use(queryOn(engine)).finally(() => engine.close());
}

/** Whether the directory has a database. */
export function hasDatabase(directory: string): Promise<boolean> {
  return access(join(directory, 'postgres', 'PG_VERSION'), constants.F_OK).then(
    () => true,
    () => false,
  );
}

/** Locks the directory, and opens its database. `close` unlocks the directory. */
async function openEngine(directory: string): Promise<Pick<Engine, 'run' | 'close'>> {
  const unlock = await lockDataDirectory(directory);
  const engine = new Engine(directory);
  const close = () => engine.close().finally(unlock);
  try {
    await engine.open(!(await hasDatabase(directory)));
    return { run: (...statement) => engine.run(...statement), close };
  } catch (error) {
    await close();
    throw openError(directory, error);
  }
}

const queryOn =
  (engine: Pick<Engine, 'run'>): Query =>
  async (text, values = []) => {
    const { rows } = await engine.run({ text, values, asObjects: true }, bulkTimeout);
    return rows as never; // The caller names the columns of its rows.
  };

function openError(directory: string, cause: unknown): DataDirectoryError {
  const remedy =
    databaseCode(cause) === '53100'
      ? 'free some room'
      : 'let this user read and write all files in it, or restore it from a backup';
  const message = `the database in ${directory} cannot be opened (${rootMessage(cause)}): ${remedy}, or choose another directory`;
  return new DataDirectoryError(message, { cause });
}
