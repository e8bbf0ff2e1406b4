import { type Database, type DatabaseConnection, lateCommit } from '../database/database.ts';
import { bulkTimeout, systemTime, timeText } from '../database/deadline.ts';
import { ConnectionPool } from '../database/pool/connection-pool.ts';
import { createVerbs } from '../database/verbs.ts';
import { applyMigrations, readSchemaVersion } from '../tables/schema-version.ts';
import { copyId, hasDatabase, markInUse } from './data-directory-state.ts';
import { openError, PGliteConnection } from './pglite-connection.ts';

/**
 * Opens and migrates the embedded database. PGlite is a Postgres that runs in a thread of this process, and
 * stores its data in a directory. Committed plants survive a crash of the process. A power cut may lose
 * committed plants, because PGlite does not call fsync.
 *
 * @throws DataDirectoryError when another process has the directory open, the directory is not
 *   writable, its disk has no room, or the database in it is damaged
 */
export async function openEmbeddedDatabase(directory: string): Promise<Database> {
  const connection = await PGliteConnection.open(directory);
  try {
    await migrateEmbedded(connection);
    await markInUse(directory);
  } catch (cause) {
    await connection.close();
    throw openError(directory, cause);
  }
  let warn = (_message: string) => {};
  const pool = new ConnectionPool({
    connect: async () => sessionOn(connection),
    shares,
    onUnsettled: () => warn(lateCommit),
  });
  const verbs = createVerbs(async (text, values, options) => {
    if (options.share !== 'bulk') return pool.run(text, values, options);
    const sent = typeof values === 'function' ? values(timeText(Infinity)) : values;
    return sessionOn(connection, bulkTimeout).query(text, sent, options.rowsAs);
  });
  return {
    ...verbs,
    mayCommit: pool.mayCommit,
    pools: () => [pool.state('requests')],
    onWarning(listener) {
      warn = listener;
    },
    copyId: copyId(directory),
    shares,
    onClockMoved: (listener) => pool.onClockMoved(listener),
    async close() {
      await pool.close();
      await connection.close();
    },
  };
}

/**
 * PGlite has only one session. At most this many statements of each kind wait for the session at the same
 * time.
 */
const shares = { creates: 1, deletes: 1, lookUps: 1, lists: 1 };

/** Makes a connection that uses PGlite's only session. */
function sessionOn(connection: PGliteConnection, timeout?: number): DatabaseConnection {
  return {
    isOpen: true,
    query: (text, values = [], rowsAs) => connection.run({ text, values, rowsAs }, timeout),
    timeOf: (deadline) => timeText(systemTime() + deadline - performance.now()),
    // PGlite cannot cancel a statement. `PGliteThread` ends the whole thread when a statement takes too long.
    cancel: async () => {},
    // PGlite cannot say whether a running statement is committing, so the store treats each running statement
    // as a commit.
    isCommitting: async () => true,
    close: async () => {},
  };
}

/**
 * Opens the database in a directory for `use`, but does not migrate the database.
 *
 * @returns the result of `use`, or undefined when the directory has no database yet.
 * @throws DataDirectoryError as `openEmbeddedDatabase` does.
 */
export async function useEmbeddedDatabase<T>(
  directory: string,
  use: (connection: DatabaseConnection) => Promise<T>,
): Promise<T | undefined> {
  if (!(await hasDatabase(directory))) return undefined;
  const connection = await PGliteConnection.open(directory);
  try {
    return await use(sessionOn(connection));
  } finally {
    await connection.close();
  }
}

async function migrateEmbedded(connection: PGliteConnection): Promise<void> {
  const { isKnown, missingMigrations } = await readSchemaVersion(sessionOn(connection).query);
  if (isKnown && missingMigrations === 0) return;
  const run = (text: string) =>
    connection.run({ text, values: [], rowsAs: 'objects' }, bulkTimeout);
  await run('begin');
  await applyMigrations(run);
  await run('commit');
}
