import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { PGlite, Results } from '@electric-sql/pglite';
import { databaseCode } from '../../plant-store-error.ts';
import type { Rows, Values } from '../database.ts';

// The program of a worker thread. It opens PGlite, and runs the statements that the main thread sends.

/** The data that the worker gets when it starts. `pglite` is the URL or the name of PGlite's module. */
export interface WorkerInput {
  readonly pglite: string;
  readonly directory: string;
}

export interface Statement {
  readonly text: string;
  readonly values: Values;
  /** Whether the rows are objects. Otherwise they are arrays, and the statement is prepared. */
  readonly asObjects: boolean;
}

/** A message to the worker. The first task must be `open`. */
export interface Call {
  readonly id: number;
  readonly task: 'open' | 'close' | Statement;
}

/** A message from the worker: the outcome of the call with this id. */
export interface Outcome {
  readonly id: number;
  readonly result?: Rows;
  readonly error?: { message: string; code: string | undefined; severity: unknown };
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

const { pglite, directory }: WorkerInput = workerData;
const {
  PGlite: Engine,
  types,
  protocol,
  parse,
}: typeof import('@electric-sql/pglite') = await import(pglite);
const { serialize } = protocol;

let engine: PGlite | undefined;

parentPort?.on('message', async ({ id, task }: Call) => {
  try {
    const result = await perform(task);
    parentPort?.postMessage({ id, result } satisfies Outcome);
    if (engine && typeof task === 'object' && isWrite(task)) await checkpointIfDue(engine);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const severity = 'severity' in error ? error.severity : undefined;
    const { message, name } = error;
    const outcome: Outcome = { id, error: { message, code: databaseCode(error), severity } };
    parentPort?.postMessage(outcome);
    // After a crash of PGlite, the next statement might never return.
    if (severity === undefined ? name === 'RuntimeError' : severity !== 'ERROR') process.exit();
  }
});

async function perform(task: Call['task']): Promise<Rows> {
  if (task === 'open') engine = await open();
  else if (task === 'close') await engine?.close();
  else if (engine) return run(engine, task);
  return { rows: [], count: 0 };
}

function open(): Promise<PGlite> {
  throwWithoutRoom();
  return Engine.create(join(directory, 'postgres'), {
    parsers: { [types.TIMESTAMPTZ]: (text: string) => text },
    // Postgres's default is 128 MB. The operating system caches the files, too.
    startParams: [...Engine.defaultStartParams, '-c', 'shared_buffers=32MB'],
  });
}

/** The names of the prepared statements by their texts. */
const prepared = new Map<string, string>();
const maxPrepared = 64;

async function run(client: PGlite, statement: Statement): Promise<Rows> {
  if (isWrite(statement)) throwWithoutRoom();
  const { text, values, asObjects } = statement;
  const canPrepare = !asObjects && (prepared.has(text) || prepared.size < maxPrepared);
  const { rows, affectedRows } = canPrepare
    ? await runPrepared(client, text, values)
    : await client.query(text, [...values], { rowMode: asObjects ? 'object' : 'array' });
  return { rows: rows as unknown[][], count: affectedRows || rows.length };
}

/**
 * Runs a prepared statement with one message. PGlite's own `query` parses the statement each time and sends six
 * messages, so a small statement takes more than twice as long.
 */
function runPrepared(client: PGlite, text: string, values: Values): Promise<Results> {
  const send = async (...messages: Uint8Array[]) =>
    (await client.execProtocol(Buffer.concat([...messages, serialize.sync()]))).messages;
  return client.runExclusive(async () => {
    const name = prepared.get(text) ?? `statement_${prepared.size}`;
    if (!prepared.has(text)) await send(serialize.parse({ name, text }));
    prepared.set(text, name);
    const messages = await send(
      serialize.bind({ statement: name, values: values.map(toText) }),
      serialize.describe({ type: 'P' }),
      serialize.execute(),
    );
    const [results] = parse.parseResults(messages, client.parsers, { rowMode: 'array' });
    return results ?? { rows: [], fields: [] };
  });
}

/** For a value that is not a text, `bind` would throw, and leave a part of its message in a buffer. */
function toText(value: unknown): string | null {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return value === null ? null : String(value);
}

function isWrite({ text }: Statement): boolean {
  return !/^\s*select/i.test(text) || text.includes('pg_logical_emit_message');
}

/**
 * The bytes that must stay free on the disk. When the disk has no room for the next segment of 16 MiB of the
 * log, a statement of PGlite never returns.
 */
const reserve = 64 * 2 ** 20;

function throwWithoutRoom(): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize >= reserve) return;
  const message =
    `no room on the disk of the data directory: ${Math.floor((bavail * bsize) / 2 ** 20)} MiB are free, ` +
    `and the embedded database needs ${reserve / 2 ** 20} MiB`;
  throw Object.assign(new Error(message), { code: '53100', severity: 'ERROR' });
}

/** A checkpoint is due after this many bytes of log. After a crash, PGlite replays the log since then. */
const maxLog = 128 * 2 ** 20;
let checkedAt = performance.now();

/** Runs a checkpoint if one is due. PGlite never does this by itself, and the log would grow without end. */
async function checkpointIfDue(client: PGlite): Promise<void> {
  if (performance.now() - checkedAt < 1_000) return;
  checkedAt = performance.now();
  const text = `
    select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 from pg_control_checkpoint()`;
  const { rows } = await client.query<[number]>(text, [], { rowMode: 'array' });
  if (rows[0] && rows[0][0] > maxLog) await client.query('checkpoint');
}
