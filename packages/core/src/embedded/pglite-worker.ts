import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { Results } from '@electric-sql/pglite';
import type { Rows } from '../database/query.ts';
import { databaseCode } from '../error-causes.ts';
import { createCheckpointer } from './checkpointer.ts';
import { checkNotReplaced, DataDirectoryError, directoryId } from './data-directory-state.ts';
import { noRoomError } from './free-room.ts';
import type { Call, Outcome, Statement, Task, WorkerInput } from './pglite-messages.ts';
import { createPreparedRunner } from './prepared-statements.ts';

// The program of a worker thread. It opens PGlite, and runs the statements that the main thread sends.

/** PGlite 0.5 treats a U+FEFF at the beginning of a value as a byte order mark, and drops this character. */
globalThis.TextDecoder = class extends TextDecoder {
  constructor(encoding?: string) {
    super(encoding, { ignoreBOM: true });
  }
};

const { pglite, dataDirectory }: WorkerInput = workerData;

// Postgres's parser is one large function of PGlite. V8's optimizing compiler would use 600 MB and seconds of
// CPU time for this function. Without the optimizing compiler, lists take 20 % longer, and other statements
// take the same time. The flags affect all WebAssembly in the process.
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');

const pgliteModule: typeof import('@electric-sql/pglite') = await import(pglite);

let database: Awaited<ReturnType<typeof open>> | undefined;
/** The identifier of the directory that PGlite has open. */
let openDirectory = '';

parentPort?.on('message', async ({ id, task }: Call) => {
  try {
    send({ id, result: await perform(task) });
    if (isWrite(task)) await database?.checkpointIfDue();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    send({ id, error: { message, code: databaseCode(error), severity: severityOf(error) } });
    // After a crash, the next statement might never return. After a DataDirectoryError, the next statement
    // might write into another directory.
    if (isCrash(error) || error instanceof DataDirectoryError) process.exit();
  }
});

function send(outcome: Outcome): void {
  parentPort?.postMessage(outcome);
}

const nothing: Rows = { rows: [], count: 0 };

async function perform(task: Task): Promise<Rows> {
  if (task === 'open') {
    // PGlite does not say that a full disk is the cause.
    database = await open().catch((error) => {
      throw noRoomError(statfsSync(dataDirectory)) ?? error;
    });
    openDirectory = directoryId(dataDirectory);
    return nothing;
  }
  checkNotReplaced(dataDirectory, openDirectory);
  if (task !== 'close') return run(task);
  await database?.close();
  return nothing;
}

async function open() {
  const { PGlite, types } = pgliteModule;
  const client = await PGlite.create(join(dataDirectory, 'postgres'), {
    parsers: { [types.TIMESTAMPTZ]: (text: string) => text },
    // Postgres's default is 128 MB. A smaller buffer is enough, because the operating system also caches the
    // files.
    startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'],
  });
  const runPrepared = createPreparedRunner(client, pgliteModule);
  return {
    run({ text, values, rowsAs }: Statement): Promise<Results> {
      if (values && !rowsAs) return runPrepared(text, values);
      return client.query(text, [...(values ?? [])], {
        rowMode: rowsAs === 'objects' ? 'object' : 'array',
      });
    },
    checkpointIfDue: createCheckpointer(client),
    close: () => client.close(),
  };
}

async function run(statement: Statement): Promise<Rows> {
  if (!database) throw new Error('the database is not open');
  const noRoom = isWrite(statement) ? noRoomError(statfsSync(dataDirectory)) : undefined;
  if (noRoom) throw Object.assign(noRoom, { severity: 'ERROR' });
  const { rows, affectedRows } = await database.run(statement);
  return { rows, count: affectedRows || rows.length };
}

function isWrite(task: Task): boolean {
  if (typeof task !== 'object') return false;
  return !/^\s*select/i.test(task.text) || task.text.includes('pg_logical_emit_message');
}

/** Whether PGlite itself has crashed. After such a crash, a Postgres server would restart its processes. */
function isCrash(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const severity = severityOf(error);
  // An error of WebAssembly has no severity.
  return severity === undefined ? error.name === 'RuntimeError' : severity !== 'ERROR';
}

function severityOf(error: unknown): unknown {
  return error instanceof Error && 'severity' in error ? error.severity : undefined;
}
