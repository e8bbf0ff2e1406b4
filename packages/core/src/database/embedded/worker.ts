import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { Rows, Values } from '../database.ts';
import { throwWithoutRoom } from './directory.ts';

// This program runs in a thread. The program opens PGlite, and runs the main thread's statements one by one.

export interface Statement {
  readonly text: string;
  readonly values: Values;
  /** Whether a row is an array or an object. Only statements whose rows are arrays are prepared. */
  readonly rowMode: 'array' | 'object';
}

/** A message of the thread. The first message means that PGlite is open. Each later message ends a statement. */
export interface Outcome extends Rows {
  readonly error?: { message: string; code: unknown; severity: unknown };
}

/** PGlite 0.5 treats a U+FEFF at the beginning of a value as a byte order mark, and drops this character. */
globalThis.TextDecoder = class extends TextDecoder {
  constructor(encoding?: string) {
    super(encoding, { ignoreBOM: true });
  }
};

// Postgres's parser is one large function of PGlite. V8's optimizing compiler would use 600 MB and seconds of
// CPU time for this function. Without this compiler, only lists take longer, by 20 %.
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');

const directory: string = workerData;
const nothing: Rows = { rows: [] };
throwWithoutRoom(directory);
const { PGlite, types, protocol, parse } = await import('@electric-sql/pglite');
const engine = await PGlite.create(directory, {
  parsers: { [types.TIMESTAMPTZ]: (text: string) => text },
  // Postgres's default is 128 MB. The operating system caches the files, too.
  startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'],
});
parentPort?.postMessage(nothing);

parentPort?.on('message', async (statement: Statement) => {
  const outcome = await run(statement).catch(({ message, code, severity }): Outcome => {
    return { ...nothing, error: { message, code, severity } };
  });
  parentPort?.postMessage(outcome);
});

/** The names of the prepared statements by their texts. PGlite parses all other statements each time. */
const prepared = new Map<string, string>();
const maxPrepared = 64;

/**
 * Runs a statement. A prepared statement needs only one message. PGlite's own `query` parses each statement
 * again and sends six messages, so a small statement takes more than twice as long.
 */
async function run({ text, values, rowMode }: Statement): Promise<Rows> {
  const isWrite = !/^\s*(select|with)\b/i.test(text) || /\b(insert|update|delete)\b/i.test(text);
  if (isWrite) throwWithoutRoom(directory);
  const { serialize } = protocol;
  const exchange = async (...messages: Uint8Array[]) =>
    (await engine.execProtocol(Buffer.concat([...messages, serialize.sync()]))).messages;
  let name = prepared.get(text) ?? '';
  if (name === '') {
    if (rowMode === 'array' && prepared.size < maxPrepared) name = `statement_${prepared.size}`;
    await exchange(serialize.parse({ name, text }));
    if (name !== '') prepared.set(text, name);
  }
  const messages = await exchange(
    // Drizzle passes some values as numbers.
    serialize.bind({ statement: name, values: values.map((it) => (it === null ? it : `${it}`)) }),
    serialize.describe({ type: 'P' }),
    serialize.execute(),
  );
  const [results] = parse.parseResults(messages, engine.parsers, { rowMode });
  // The statement is committed. After an error of the checkpoint, a later write tries the checkpoint again.
  if (isWrite) await checkpointIfDue().catch(() => {});
  return { rows: (results?.rows ?? []) as unknown[][] };
}

/** A checkpoint is due after this many bytes of log. After a crash, PGlite replays the log. */
const maxLog = 128 * 2 ** 20;
let checkedAt = performance.now();

/** Runs a checkpoint if one is due. PGlite itself runs no checkpoints, so its log would grow without end. */
async function checkpointIfDue(): Promise<void> {
  if (performance.now() - checkedAt < 1_000) return;
  checkedAt = performance.now();
  const { rows } = await engine.query(`
    select 1 from pg_control_checkpoint() where pg_current_wal_lsn() - redo_lsn > ${maxLog}`);
  if (rows.length > 0) await engine.query('checkpoint');
}
