import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Rows } from '../database.ts';
import { deadlineIn, withDeadline } from '../deadline.ts';
import type { Outcome, Task } from './worker.ts';

/** The program of the thread. The file is TypeScript in `src` and JavaScript in `dist`. */
const program = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** The time limit for opening the database, which may replay a long log, and for closing it. */
const openTimeout = 600_000;

/**
 * PGlite in a thread. PGlite runs synchronously and may never return, so a thread that is silent for too long is
 * ended. The next statement opens the database again.
 */
export class Engine {
  readonly #directory: string;
  #worker: Worker | undefined;
  /** The next message of the thread, or the error that ends the thread. */
  #message = Promise.withResolvers<Outcome>();
  /** Resolves when all earlier statements have ended. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Runs a statement after all earlier ones. If it takes longer than `timeout`, its thread is ended. */
  run(task: Task, timeout: number): Promise<Rows> {
    const outcome = this.#last.then(() => this.#run(task, timeout));
    this.#last = outcome.catch(() => {});
    return outcome;
  }

  /** Closes the database after all earlier statements. */
  async close(): Promise<void> {
    await this.#last;
    if (this.#worker) await this.run('close', openTimeout).catch(() => {});
    await this.#worker?.terminate();
  }

  async #run(task: Task, timeout: number): Promise<Rows> {
    if (!this.#worker) await this.#exchange(this.#start(), openTimeout);
    if (!this.#worker) throw ended();
    const waiting = this.#exchange(this.#worker, timeout);
    this.#worker.postMessage(task);
    return waiting;
  }

  #start(): Worker {
    // Without `execArgv`, the thread would inherit `--input-type`.
    const worker = new Worker(program, { workerData: this.#directory, execArgv: [] });
    this.#worker = worker;
    return worker
      .on('message', (outcome: Outcome) => this.#message.resolve(outcome))
      .on('error', (error) => this.#message.reject(error))
      .on('exit', () => {
        this.#worker = undefined;
        this.#message.reject(ended());
      });
  }

  /** Waits for the next message of the thread. */
  async #exchange(worker: Worker, timeout: number): Promise<Rows> {
    this.#message = Promise.withResolvers();
    this.#message.promise.catch(() => {}); // The thread may end while nobody waits.
    worker.ref(); // Only a waiting call keeps the process running.
    const { error, ...rows } = await withDeadline(this.#message.promise, deadlineIn(timeout))
      .catch(async (error) => {
        await worker.terminate();
        throw error;
      })
      .finally(() => worker.unref());
    if (error) throw Object.assign(new Error(error.message), error);
    return rows;
  }
}

const ended = () => new Error('the thread of the embedded database ended');
