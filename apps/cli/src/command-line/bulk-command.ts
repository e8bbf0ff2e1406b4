import { setFlagsFromString } from 'node:v8';

/** 128 plus the number of the signal, as in a shell. */
export const exitCodeBySignal = { SIGINT: 130, SIGTERM: 143 } as const;

/** A request to stop, by SIGINT or SIGTERM. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** The exit code after an interruption: 128 plus the signal's number. */
  readonly exitCode: number | undefined;
}

/** Listens for the first signal of each kind. A second one ends the process at once. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      exitCode = exitCodeBySignal[name];
      controller.abort();
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
 * Lets a command about millions of plants use little memory. It must be called before the store is
 * opened. Node has no other way to set these in a running process.
 */
export function useLittleMemory(): void {
  // Such a command holds few rows at a time and makes millions, for which V8 would use 150 MB more.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
  // To optimize the largest functions of PGlite, V8 would use 500 MB for some seconds.
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}
