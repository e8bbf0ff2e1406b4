import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rootMessage } from '../../plant-store-error.ts';
import type { Database } from '../database.ts';
import { defaultTimeout } from '../deadline.ts';
import { DatabaseSettingsError, DataDirectoryError } from '../errors.ts';
import { migrate } from '../migration.ts';
import { bulkKinds, Pool } from '../pool.ts';
import { lockDataDirectory, throwWithoutRoom } from './directory.ts';
import { createEngine } from './engine.ts';

/** PGlite has one session. One statement of each kind may wait for this session. */
const connections = { creates: 1, edits: 1, reads: 1, counts: 1, searches: 1, changes: 1 };

/** The engine ends its thread if a statement takes this many milliseconds. The caller usually has an error then. */
const requestTimeout = defaultTimeout + 1_000;
const bulkTimeout = 60_000;

/**
 * Opens and migrates the embedded database: PGlite, a Postgres in a thread of this process, with its files in
 * a directory. Committed plants survive a crash of the process. A power cut may lose committed plants, because
 * PGlite does not call fsync.
 *
 * @throws DataDirectoryError when another process uses the directory, when PGlite is not installed, or when
 *   PGlite cannot open or create its files
 * @throws DatabaseSettingsError when the tables are of another version
 */
export async function openEmbedded(directory: string): Promise<Database> {
  const unlock = await lockDataDirectory(directory);
  const files = join(directory, 'postgres');
  const engine = createEngine(files);
  const close = () => engine.close().finally(unlock);
  try {
    if (!existsSync(files)) await create(directory, files);
    await migrate(async (text, values = []) => {
      const { rows } = await engine.run({ text, values, rowMode: 'object' }, bulkTimeout);
      return rows as never; // The caller names the columns of its rows.
    });
  } catch (cause) {
    await close();
    if (cause instanceof DatabaseSettingsError) throw cause;
    const advice =
      'install @electric-sql/pglite, free some room on the disk, or make the files writable';
    const message = `the database in ${directory} cannot be opened (${rootMessage(cause)}): ${advice}`;
    throw new DataDirectoryError(message, { cause });
  }
  return new Pool({
    connections,
    open: async (kind) => ({
      id: undefined,
      isOpen: true,
      openedAt: performance.now(),
      query: (text, values) => {
        const timeout = bulkKinds.has(kind) ? bulkTimeout : requestTimeout;
        return engine.run({ text, values, rowMode: 'array' }, timeout);
      },
      timeOf: (deadline) => new Date(Date.now() + deadline - performance.now()).toISOString(),
      drop() {},
    }),
    // The engine itself ends a statement that takes too long.
    working: async () => new Set(),
    close,
  });
}

/** These flags of Node save memory. The first flag is for WASM: see `worker.ts`. */
const flags = ['--liftoff-only', '--max-old-space-size=64'];

/** Creates the database under another name, so that a killed process leaves no partial database. */
async function create(directory: string, files: string): Promise<void> {
  throwWithoutRoom(directory);
  const unfinished = join(directory, 'unfinished');
  await rm(unfinished, { recursive: true, force: true });
  const program = fileURLToPath(new URL(`./create${extname(import.meta.url)}`, import.meta.url));
  await promisify(execFile)(process.execPath, [...flags, program, unfinished]).catch((error) => {
    throw new Error(error.stderr || error.message);
  });
  await rename(unfinished, files);
}
