import { setFlagsFromString } from 'node:v8';
import { CommandError } from './errors.ts';

/** The exit code after each signal: 128 plus the signal's number, as in a shell. */
export const exitCodeBySignal = { SIGINT: 130, SIGTERM: 143 } as const;

/** The command ends this number of milliseconds after a signal, even if a statement hangs. */
const grace = 800;

/**
 * Runs a command. The first SIGINT or SIGTERM aborts the `AbortSignal` of the command. A second
 * signal with the same name ends the process.
 *
 * @param message the message of the error after a signal
 * @throws CommandError when the command fails after a signal
 */
export async function interruptible<T>(
  message: string,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let exitCode: number | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      exitCode = exitCodeBySignal[name];
      controller.abort();
      setTimeout(() => {
        process.stderr.write(`plant-store: ${message}\n`);
        process.exit(exitCode);
      }, grace).unref();
    });
  }
  try {
    return await run(controller.signal);
  } catch (error) {
    throw exitCode === undefined ? error : new CommandError(message, { exitCode });
  }
}

/**
 * Limits the memory of a command that handles millions of plants. Call this function before you open the
 * store. The function sets flags of V8, because Node has no other way to limit a running process.
 */
export function limitMemory(): void {
  // By default, V8 would use 150 MB more, because there are millions of short-lived rows.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
  // V8 would use 500 MB for some seconds to optimize the largest functions of PGlite.
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}
