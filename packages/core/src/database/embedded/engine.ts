import nodeModule from 'node:module';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { databaseCode } from '../../plant-store-error.ts';
import type { Rows } from '../database.ts';
import type { Call, Outcome, Statement, WorkerInput } from './worker.ts';

/** The program of the thread. The file is TypeScript in `src` and JavaScript in `dist`. */
const program = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** The time between two looks at the oldest call, in milliseconds. */
const interval = 500;

/** The time limits for opening the database, which may be created, or replay a long log. */
const [openTimeout, reopenTimeout] = [600_000, 30_000];

type Waiting = PromiseWithResolvers<Rows> & { readonly timeout: number };

/**
 * PGlite in a thread. PGlite runs synchronously and may never return, so the main thread ends a thread that is
 * silent for too long. The next statement then opens the database again.
 */
export class Engine {
  readonly #directory: string;
  #worker: Worker | undefined;
  /** Settles when the thread has opened the database. */
  #opened: Promise<unknown> | undefined;
  /** Resolves when the last thread has ended. Another thread may then open the same directory. */
  #ended: Promise<unknown> = Promise.resolve();
  /** The calls without an outcome. PGlite runs them in the order of this map. */
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  /** Milliseconds since the last outcome, while calls wait. Does not count while the process is suspended. */
  #silence = 0;
  #isClosed = false;
  readonly #watchdog = setInterval(() => this.#endIfSilent(), interval).unref();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Opens the database, and creates it if it `isNew`. */
  async open(isNew: boolean): Promise<void> {
    await this.#open(openTimeout);
    if (!isNew) return;
    // A thread that has created a database keeps over 100 MB of unused memory, so a new thread replaces it.
    await this.#call('close', openTimeout);
    this.#end(new Error('the database was created'));
    await this.#open(reopenTimeout);
  }

  /** Runs a statement after all earlier ones. If it takes longer than `timeout`, the thread is ended. */
  async run(statement: Statement, timeout: number): Promise<Rows> {
    if (this.#isClosed) throw new Error('the embedded database is closed');
    await (this.#opened ?? this.#open(reopenTimeout));
    return this.#call(statement, timeout);
  }

  /** Closes the database after all earlier statements. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watchdog);
    if (this.#worker) await this.#call('close', reopenTimeout).catch(() => {});
    this.#end(new Error('the embedded database is closed'));
    await this.#ended;
  }

  #open(timeout: number): Promise<unknown> {
    this.#opened = this.#start(timeout);
    return this.#opened;
  }

  async #start(timeout: number): Promise<void> {
    await this.#ended;
    const workerData: WorkerInput = { pglite: resolvePGlite(), directory: this.#directory };
    // A worker does not inherit the compile cache. Without `execArgv`, it would inherit `--input-type`.
    const cache = nodeModule.getCompileCacheDir?.();
    const env = { ...process.env, ...(cache && { NODE_COMPILE_CACHE: dirname(cache) }) };
    const worker = new Worker(program, { workerData, execArgv: [], env });
    const end = (error: Error) => worker === this.#worker && this.#end(error);
    worker.on('message', (outcome: Outcome) => this.#receive(outcome)).on('error', end);
    this.#ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    void this.#ended.then(() => end(new Error('the thread of the embedded database ended')));
    this.#worker = worker;
    await this.#call('open', timeout).catch((error) => {
      this.#end(error);
      throw error;
    });
  }

  async #call(task: Call['task'], timeout: number): Promise<Rows> {
    if (!this.#worker) throw new Error('the embedded database is not open');
    const waiting = { timeout, ...Promise.withResolvers<Rows>() };
    this.#waiting.set(++this.#lastId, waiting);
    this.#worker.ref(); // Only a waiting call keeps the process running.
    this.#worker.postMessage({ id: this.#lastId, task } satisfies Call);
    return waiting.promise;
  }

  #receive({ id, result, error }: Outcome): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#silence = 0;
    if (this.#waiting.size === 0) this.#worker?.unref();
    if (result) waiting?.resolve(result);
    else waiting?.reject(Object.assign(new Error(error?.message), error));
  }

  #endIfSilent(): void {
    const [first] = this.#waiting.values();
    this.#silence = first ? this.#silence + interval : 0;
    if (!first || this.#silence < first.timeout) return;
    const message = `the embedded database did not respond within ${this.#silence} ms, and is opened again`;
    this.#end(new Error(message));
  }

  /** Ends the thread, and rejects all calls. */
  #end(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#opened = undefined;
  }
}

/** Returns the URL of PGlite's module, or its name. Throws when PGlite, an optional peer, is missing. */
function resolvePGlite(): string {
  const name = '@electric-sql/pglite';
  try {
    return import.meta.resolve(name);
  } catch (error) {
    // An error with a code means that PGlite is not installed.
    if (databaseCode(error) !== undefined) throw error;
    return name; // In Vitest's global setups, `import.meta.resolve` does not exist.
  }
}
