import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { Results } from '@electric-sql/pglite';
import type { Rows, Values } from '../database.ts';
import { throwWithoutRoom } from './directory.ts';

// The program of a thread. It opens PGlite, and runs the statements that the main thread sends.

/** A message to the thread. After each message, the thread sends an outcome. */
export type Task = Statement | 'close';

export interface Statement {
  readonly text: string;
  readonly values: Values;
  /** Whether the rows are objects. Otherwise they are arrays, and the statement is prepared. */
  readonly asObjects: boolean;
}

/** A message from the thread. The first one means that PGlite is open. */
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
// CPU time for this function. Without it, lists take 20 % longer, and other statements take the same time.
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');

const directory: string = workerData;
const { PGlite, types, protocol, parse } = await import('@electric-sql/pglite');
throwWithoutRoom(directory);
const engine = await PGlite.create(directory, {
  parsers: { [types.TIMESTAMPTZ]: (text: string) => text },
  // Postgres's default is 128 MB. The operating system caches the files, too.
  startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'],
});
const nothing: Rows = { rows: [] };
const send = (outcome: Outcome) => parentPort?.postMessage(outcome);
send(nothing);

parentPort?.on('message', async (task: Task) => {
  try {
    if (task === 'close') await engine.close();
    send(task === 'close' ? nothing : await run(task));
  } catch (thrown) {
    const error: Error & { code?: unknown; severity?: unknown } =
      thrown instanceof Error ? thrown : new Error(String(thrown));
    const { name, message, code, severity } = error;
    send({ ...nothing, error: { message, code, severity } });
    // After a crash of PGlite, the next statement might never return.
    if (severity === undefined ? name === 'RuntimeError' : severity !== 'ERROR') process.exit();
  }
  if (task !== 'close' && isWrite(task)) await checkpointIfDue().catch(() => process.exit());
});

/** The names of the prepared statements by their texts. */
const prepared = new Map<string, string>();
const maxPrepared = 64;

async function run(statement: Statement): Promise<Rows> {
  if (isWrite(statement)) throwWithoutRoom(directory);
  const { text, values, asObjects } = statement;
  const canPrepare = !asObjects && (prepared.has(text) || prepared.size < maxPrepared);
  const { rows } = canPrepare
    ? await runPrepared(text, values)
    : await engine.query(text, [...values], { rowMode: asObjects ? 'object' : 'array' });
  return { rows: rows as unknown[][] };
}

/**
 * Runs a prepared statement with one message. PGlite's own `query` parses the statement each time and sends six
 * messages, so a small statement takes more than twice as long.
 */
function runPrepared(text: string, values: Values): Promise<Results> {
  const { serialize } = protocol;
  const exchange = async (...messages: Uint8Array[]) =>
    (await engine.execProtocol(Buffer.concat([...messages, serialize.sync()]))).messages;
  return engine.runExclusive(async () => {
    const name = prepared.get(text) ?? `statement_${prepared.size}`;
    if (!prepared.has(text)) await exchange(serialize.parse({ name, text }));
    prepared.set(text, name);
    const messages = await exchange(
      // Drizzle passes numbers, too.
      serialize.bind({ statement: name, values: values.map((it) => (it === null ? it : `${it}`)) }),
      serialize.describe({ type: 'P' }),
      serialize.execute(),
    );
    const [results] = parse.parseResults(messages, engine.parsers, { rowMode: 'array' });
    return results ?? { rows: [], fields: [] };
  });
}

const isWrite = ({ text }: Statement) => !/^\s*select/i.test(text);

/** A checkpoint is due after this many bytes of log. After a crash, PGlite replays the log since then. */
const maxLog = 128 * 2 ** 20;
let checkedAt = performance.now();

/** Runs a checkpoint if one is due. PGlite never does this by itself, and the log would grow without end. */
async function checkpointIfDue(): Promise<void> {
  if (performance.now() - checkedAt < 1_000) return;
  checkedAt = performance.now();
  const { rows } = await engine.query<{ log: number }>(`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as log from pg_control_checkpoint()`);
  if (rows[0] && rows[0].log > maxLog) await engine.query('checkpoint');
}
