/** Seconds of load before and during a measurement. V8 compiles the hot code in about 5 s. */
export function loadDurations(quick: boolean): { warmUp: number; seconds: number } {
  return quick ? { warmUp: 3, seconds: 1 } : { warmUp: 6, seconds: 8 };
}
