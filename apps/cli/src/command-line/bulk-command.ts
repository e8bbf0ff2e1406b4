import { setFlagsFromString } from 'node:v8';

/** The exit code after each signal: 128 plus the signal's number, as in a shell. */
export const exitCodeBySignal = { SIGINT: 130, SIGTERM: 143 } as const;

/** An interruption by SIGINT or SIGTERM. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** The exit code after an interruption: 128 plus the signal's number. */
  readonly exitCode: number | undefined;
}

/** The milliseconds after which a signal stops the command, even if a statement hangs. */
const grace = 800;

/**
 * Listens for the first SIGINT and the first SIGTERM. A second signal of the same kind ends the process.
 *
 * @param message the text for stderr, when the command has not ended in time
 */
export function listenForInterruption(message: string): Interruption {
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
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
  };
}

/**
 * Limits the memory of a command that handles millions of plants. Call this function before you open the
 * store. The function sets flags of V8, because Node has no other way to limit a running process.
 */
export function limitMemory(): void {
  // By default, V8 would keep 150 MB more for the millions of short-lived rows.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
  // Optimizing the largest functions of PGlite would take 500 MB for some seconds.
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}
