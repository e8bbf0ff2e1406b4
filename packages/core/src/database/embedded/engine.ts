import nodeModule from 'node:module';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { databaseCode } from '../../error-causes.ts';
import type { Rows } from '../database.ts';
import type { Call, Outcome, Statement, WorkerInput } from './worker.ts';

/** The program of the thread. The file is TypeScript in `src` and JavaScript in `dist`. */
const program = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** The time between two looks at the oldest call, in milliseconds. */
const interval = 500;

/** The time limits for opening the database: it may be created, or replay a long log. */
const [openTimeout, reopenTimeout] = [600_000, 30_000];

interface Waiting extends PromiseWithResolvers<Rows> {
  readonly timeout: number;
}

/**
 * A thread with PGlite. PGlite runs synchronously and may never return, so the main thread ends a thread that
 * is silent for too long.
 */
class Thread {
  /** Resolves when the thread has ended. Another thread may then open the same directory. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  /** The calls without an outcome. PGlite runs them in the order of this map. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #watchdog: NodeJS.Timeout;
  #lastId = 0;
  /** Milliseconds since the last outcome, while calls wait. Does not count while the process is suspended. */
  #silence = 0;
  error: Error | undefined;

  constructor(directory: string) {
    const workerData: WorkerInput = { pglite: resolvePGlite(), directory };
    // A worker does not inherit the compile cache. Without `execArgv`, it would inherit `--input-type`.
    const cache = nodeModule.getCompileCacheDir?.();
    const env = { ...process.env, ...(cache && { NODE_COMPILE_CACHE: dirname(cache) }) };
    this.#worker = new Worker(program, { workerData, execArgv: [], env });
    this.#worker.on('message', (outcome: Outcome) => this.#receive(outcome));
    this.#worker.on('error', (error) => this.#end(error));
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#end(new Error('the thread of the embedded database ended'));
        resolve();
      });
    });
    this.#watchdog = setInterval(() => this.#check(), interval).unref();
    this.#worker.unref();
  }

  async run(task: Call['task'], timeout: number): Promise<Rows> {
    if (this.error) throw this.error;
    const call: Call = { id: ++this.#lastId, task };
    const waiting = { timeout, ...Promise.withResolvers<Rows>() };
    // Only a waiting call keeps the process running.
    if (this.#waiting.size === 0) this.#worker.ref();
    this.#waiting.set(call.id, waiting);
    this.#worker.postMessage(call);
    return waiting.promise;
  }

  /** Closes the database after all earlier statements, and ends the thread. */
  async close(): Promise<void> {
    await this.run('close', reopenTimeout).catch(() => {});
    this.#end(new Error('the embedded database is closed'));
    await this.ended;
  }

  #receive({ id, result, error }: Outcome): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#silence = 0;
    if (this.#waiting.size === 0) this.#worker.unref();
    if (result) waiting?.resolve(result);
    else waiting?.reject(Object.assign(new Error(error?.message), error));
  }

  #check(): void {
    const [first] = this.#waiting.values();
    this.#silence = first ? this.#silence + interval : 0;
    if (!first || this.#silence < first.timeout) return;
    const message = `the embedded database did not respond within ${this.#silence} ms, and is opened again`;
    this.#end(new Error(message));
  }

  #end(error: Error): void {
    if (this.error) return;
    this.error = error;
    clearInterval(this.#watchdog);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    void this.#worker.terminate();
  }
}

/** The database in a data directory. When its thread has ended, the next statement opens it again. */
export class Engine {
  readonly #directory: string;
  #thread: Promise<Thread>;
  #isClosed = false;

  private constructor(directory: string, thread: Thread) {
    this.#directory = directory;
    this.#thread = Promise.resolve(thread);
  }

  /** @param isNew whether PGlite must create the database */
  static async open(directory: string, isNew: boolean): Promise<Engine> {
    let thread = await openThread(directory, openTimeout);
    if (isNew) {
      // A thread that has created a database keeps over 100 MB of unused memory, so a new thread replaces it.
      await thread.close();
      thread = await openThread(directory, reopenTimeout);
    }
    return new Engine(directory, thread);
  }

  /** Runs a statement after all earlier ones. If it takes longer than `timeout`, the thread is ended. */
  async run(statement: Statement, timeout: number): Promise<Rows> {
    if (this.#isClosed) throw new Error('the embedded database is closed');
    const before = this.#thread;
    const thread = await before.catch(() => undefined);
    if (thread && !thread.error) return thread.run(statement, timeout);
    // Only the first of several statements opens the database again.
    if (this.#thread === before) {
      this.#thread = (thread?.ended ?? Promise.resolve()).then(() =>
        openThread(this.#directory, reopenTimeout),
      );
    }
    return (await this.#thread).run(statement, timeout);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#thread.catch(() => undefined))?.close();
  }
}

async function openThread(directory: string, timeout: number): Promise<Thread> {
  const thread = new Thread(directory);
  try {
    await thread.run('open', timeout);
    return thread;
  } catch (error) {
    await thread.close();
    throw error;
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
