/** Seconds of load before and while it is measured. */
export function durations(quick: boolean): { warmUp: number; seconds: number } {
  return quick ? { warmUp: 3, seconds: 1 } : { warmUp: 3, seconds: 8 };
}
