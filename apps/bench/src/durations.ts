/** Seconds of load before and while it is measured. V8 compiles for some 5 s what a load needs. */
export function durations(quick: boolean): { warmUp: number; seconds: number } {
  return quick ? { warmUp: 3, seconds: 1 } : { warmUp: 6, seconds: 8 };
}
