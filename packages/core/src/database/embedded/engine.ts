import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Rows } from '../database.ts';
import { deadlineIn, withDeadline } from '../deadline.ts';
import type { Outcome, Statement } from './worker.ts';

/** The program of the thread. The file is TypeScript in `src` and JavaScript in `dist`. */
const program = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** The time limit for opening or closing the database, in milliseconds. Opening may replay a long log. */
const openTimeout = 600_000;

/**
 * Runs PGlite in a thread. PGlite is synchronous and may never return, so the engine ends a thread that is
 * silent for too long. The next statement opens the database again.
 */
export function createEngine(directory: string) {
  let thread: Worker | undefined;
  /** Resolves when all earlier statements have ended. */
  let last: Promise<unknown> = Promise.resolve();

  return {
    run,
    /** Closes the database after all earlier statements. The checkpoint makes the next start fast. */
    async close(): Promise<void> {
      await last;
      const checkpoint: Statement = { text: 'checkpoint', values: [], rowMode: 'array' };
      if (thread) await run(checkpoint, openTimeout).catch(() => {});
      await thread?.terminate();
    },
  };

  /** Runs a statement after all earlier statements. Ends the thread if the statement exceeds `timeout`. */
  function run(statement: Statement, timeout: number): Promise<Rows> {
    const rows = last.then(async () => {
      thread ??= await start();
      thread.postMessage(statement);
      return receive(thread, timeout);
    });
    last = rows.catch(() => {});
    return rows;
  }

  async function start(): Promise<Worker> {
    // Without `execArgv`, the thread would inherit flags of the process, such as `--input-type`.
    const started = new Worker(program, { workerData: directory, execArgv: [] });
    // Without a listener, an error of an idle thread stops the process. `receive` has a listener of its own.
    started.on('error', () => {
      if (thread === started) thread = undefined;
    });
    await receive(started, openTimeout);
    return started;
  }

  /** Waits for the next message of a thread, or for the error that ends the thread. */
  async function receive(from: Worker, timeout: number): Promise<Rows> {
    from.ref(); // Only a waiting call keeps the process running.
    try {
      const message = await withDeadline(once(from, 'message'), deadlineIn(timeout));
      const [{ error, ...rows }] = message as [Outcome];
      if (error) throw Object.assign(new Error(error.message), error);
      return rows;
    } catch (error) {
      // After a crash of PGlite, the next statement might never return.
      if (Object(error).severity !== 'ERROR') {
        thread = undefined;
        await from.terminate();
      }
      throw error;
    } finally {
      from.unref();
    }
  }
}
