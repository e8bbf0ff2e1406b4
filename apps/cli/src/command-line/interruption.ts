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
