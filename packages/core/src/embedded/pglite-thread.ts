import { statfs } from 'node:fs/promises';
import nodeModule from 'node:module';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { defaultTimeout } from '../database/deadline.ts';
import type { Rows } from '../database/query.ts';
import { databaseCode } from '../error-causes.ts';
import { noRoomError } from './free-room.ts';
import type { Call, Outcome, Task, WorkerInput } from './pglite-messages.ts';

/** The URL or the name of PGlite's module. `resolve` throws when PGlite, an optional peer, is missing. */
const pglite = resolvePGlite();

/** The program of the worker. The file is TypeScript in `src` and JavaScript in `dist`. */
const program = new URL(`./pglite-worker${extname(import.meta.url)}`, import.meta.url);

/** The time between two checks that PGlite still responds, in milliseconds. */
const checkInterval = 500;

/**
 * The time limit for a statement of a request, in milliseconds. The deadline of the request is earlier, so
 * the client does not wait for this time limit.
 */
const statementTimeout = defaultTimeout + 1_000;

type Waiting = PromiseWithResolvers<Rows> & { readonly timeout: number };

/**
 * A worker thread with PGlite. PGlite runs synchronously and may never return, for example when the disk is
 * full. PGlite has its own thread, so that the main thread can end this thread when PGlite does not respond
 * in time.
 */
export class PGliteThread {
  /** Resolves when the thread has ended. Another thread may then open the same directory. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #dataDirectory: string;
  /** The calls that have no response yet. PGlite runs the calls in the order of this map. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #checks: NodeJS.Timeout;
  #lastId = 0;
  /**
   * The number of milliseconds since PGlite's last response, counted only while calls wait. A timer counts
   * the milliseconds, because a clock would also count the time during which the process is suspended.
   */
  #silence = 0;
  /** The error that ended the thread. Undefined when the thread is running. */
  #error: Error | undefined;

  constructor(dataDirectory: string) {
    const workerData: WorkerInput = { pglite, dataDirectory };
    this.#dataDirectory = dataDirectory;
    // Without `execArgv`, the worker would inherit flags such as `--input-type`.
    this.#worker = new Worker(program, { workerData, execArgv: [], env: workerEnv() });
    this.#worker.on('message', (outcome: Outcome) => this.#receive(outcome));
    this.#worker.on('error', (error) => this.#end(error));
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#end(new Error('the thread of the embedded database ended'));
        resolve();
      });
    });
    this.#checks = setInterval(() => this.#check(), checkInterval).unref();
    this.#worker.unref();
  }

  /**
   * Performs a task after all earlier tasks.
   *
   * @param timeout the time limit in milliseconds. After this time, the thread is ended
   */
  async run(task: Task, timeout = statementTimeout): Promise<Rows> {
    if (this.#error) throw this.#error;
    const call: Call = { id: ++this.#lastId, task };
    const waiting = { timeout, ...Promise.withResolvers<Rows>() };
    // Only a waiting call may keep the process running. A thread without a waiting call must not keep the
    // process running.
    if (this.#waiting.size === 0) this.#worker.ref();
    this.#waiting.set(call.id, waiting);
    this.#worker.postMessage(call);
    return waiting.promise;
  }

  /** Closes the database after all earlier statements, and ends the thread. */
  async close(): Promise<void> {
    await this.run('close').catch(() => {});
    this.#end(new Error('the embedded database is closed'));
    await this.ended;
  }

  /** Ends the thread, even in the middle of a statement. Rejects the waiting calls with the error. */
  #end(error: Error): void {
    if (this.#error) return;
    this.#error = error;
    clearInterval(this.#checks);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    void this.#worker.terminate();
  }

  #receive({ id, ...outcome }: Outcome): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#silence = 0;
    if (this.#waiting.size === 0) this.#worker.unref();
    if ('result' in outcome) waiting?.resolve(outcome.result);
    else waiting?.reject(Object.assign(new Error(outcome.error.message), outcome.error));
  }

  /**
   * Ends the thread when the first waiting call takes longer than the call's time limit. When the disk is
   * full, the limit is at most `statementTimeout`.
   */
  async #check(): Promise<void> {
    const [first] = this.#waiting.values();
    if (!first) {
      this.#silence = 0;
      return;
    }
    this.#silence += checkInterval;
    const silence = this.#silence;
    if (silence < Math.min(first.timeout, statementTimeout)) return;
    const noRoom = await statfs(this.#dataDirectory).then(noRoomError, () => undefined);
    const late = `the embedded database did not respond within ${silence} ms, and is opened again`;
    if (noRoom || silence >= first.timeout) this.#end(noRoom ?? new Error(late));
  }
}

/**
 * Returns the environment for the worker. A worker does not inherit the compile cache, so
 * `NODE_COMPILE_CACHE` names the cache's directory.
 */
function workerEnv(): NodeJS.ProcessEnv {
  const compileCache = nodeModule.getCompileCacheDir?.(); // Deno lacks the function `getCompileCacheDir`.
  return { ...process.env, ...(compileCache && { NODE_COMPILE_CACHE: dirname(compileCache) }) };
}

/**
 * Returns the URL of PGlite's module. When only the worker can resolve the URL, returns the name of the
 * module.
 */
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
