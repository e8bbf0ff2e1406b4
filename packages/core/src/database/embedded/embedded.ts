import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { databaseCode, rootMessage } from '../../plant-store-error.ts';
import type { Database, Kind, Query } from '../database.ts';
import { defaultTimeout, timeText } from '../deadline.ts';
import { DataDirectoryError } from '../errors.ts';
import { migrate } from '../migration.ts';
import { Pool } from '../pool.ts';
import { lockDataDirectory, throwWithoutRoom } from './directory.ts';
import { Engine } from './engine.ts';

/** PGlite has one session. One statement of each kind may wait for it. */
const connections: Readonly<Record<Kind, number>> = {
  ...{ creates: 1, deletes: 1, reads: 1 },
  ...{ counts: 1, searches: 1, changes: 1 },
};

/** After this time, the engine is opened again. The callers have got an error before. */
const requestTimeout = defaultTimeout + 1_000;
const bulkTimeout = 60_000;

/** The time limit for creating the database, in milliseconds. */
const createTimeout = 600_000;

/** The flags of Node for this. See `worker.ts` for those of WASM. */
const createFlags = [
  ...['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'],
  ...['--max-old-space-size=64', '--max-semi-space-size=1'],
];

/** The system's clock, even in a test that replaces `Date.now`. PGlite runs in another thread. */
const { now } = Date;

/**
 * Opens and migrates the embedded database: PGlite, a Postgres in a thread of this process, with its files in
 * a directory. Committed plants survive a crash of the process. A power cut may lose committed plants, because
 * PGlite does not call fsync.
 *
 * @throws DataDirectoryError when PGlite is not installed, another process has the directory open, the directory
 *   is not writable, its disk has no room, or the database cannot be opened
 */
export async function openEmbedded(directory: string): Promise<Database> {
  const { engine, query, close } = await lockEngine(directory);
  try {
    if (!hasDatabase(directory)) await create(directory);
    await migrate(query);
  } catch (cause) {
    await close();
    throw openError(directory, cause);
  }
  return new Pool({
    connections,
    async open(kind) {
      const isBulk = kind === 'counts' || kind === 'searches' || kind === 'changes';
      const timeout = isBulk ? bulkTimeout : requestTimeout;
      return {
        id: undefined,
        isOpen: true,
        openedAt: performance.now(),
        query: (text, values) => engine.run({ text, values, asObjects: false }, timeout),
        timeOf: (deadline) => timeText(now() + deadline - performance.now()),
        drop() {},
      };
    },
    // The engine itself ends a statement that takes too long.
    working: async () => new Set(),
    close,
  });
}

/** Calls `use` with the session of a database that is not migrated. Returns undefined without a database. */
export async function useEmbedded<T>(
  directory: string,
  use: (query: Query) => Promise<T>,
): Promise<T | undefined> {
  if (!hasDatabase(directory)) return undefined;
  const { query, close } = await lockEngine(directory);
  return use(query).finally(close);
}

const pathIn = (directory: string) => join(directory, 'postgres');

const hasDatabase = (directory: string) => existsSync(join(pathIn(directory), 'PG_VERSION'));

async function lockEngine(directory: string) {
  const unlock = await lockDataDirectory(directory);
  const engine = new Engine(pathIn(directory));
  const query: Query = async (text, values = []) => {
    const { rows } = await engine.run({ text, values, asObjects: true }, bulkTimeout);
    return rows as never; // The caller names the columns of its rows.
  };
  return { engine, query, close: () => engine.close().finally(unlock) };
}

/** Creates the database beside its place, so that a process that is killed leaves no half database. */
async function create(directory: string): Promise<void> {
  throwWithoutRoom(directory);
  const leftOver = (await readdir(directory)).filter((name) => name.startsWith('unfinished-'));
  for (const name of leftOver) await rm(join(directory, name), { recursive: true, force: true });
  const unfinished = await mkdtemp(join(directory, 'unfinished-'));
  const program = fileURLToPath(new URL(`./create${extname(import.meta.url)}`, import.meta.url));
  await promisify(execFile)(process.execPath, [...createFlags, program, unfinished], {
    timeout: createTimeout,
  }).catch(({ stderr, message }) => {
    throw new Error(stderr || message);
  });
  await rename(unfinished, pathIn(directory));
}

function openError(directory: string, cause: unknown): DataDirectoryError {
  if (cause instanceof DataDirectoryError) return cause;
  const isMissing = rootMessage(cause).includes('@electric-sql/pglite');
  const isFull = databaseCode(cause) === '53100';
  const files = 'let this user read and write all files in it, or restore it from a backup';
  const remedy = isMissing
    ? 'run npm install @electric-sql/pglite, or use a databaseUrl'
    : `${isFull ? 'free some room' : files}, or choose another directory`;
  const message = `the database in ${directory} cannot be opened (${rootMessage(cause)}): ${remedy}`;
  return new DataDirectoryError(message, { cause });
}
