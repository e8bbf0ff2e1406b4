const exitCodeBySignal = { SIGINT: 130, SIGTERM: 143 } as const;

/** A wish to stop, from the terminal or a supervisor; asked a second time, the process just ends. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** What the process ends with when it was interrupted: 128 and the number of the signal. */
  readonly exitCode: number | undefined;
}

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
