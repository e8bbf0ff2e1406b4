/** Seconds of load before a measurement, at the most, and during it. See `warmUp`. */
export function loadDurations(quick: boolean): { warmUp: number; seconds: number } {
  return quick ? { warmUp: 6, seconds: 2 } : { warmUp: 40, seconds: 8 };
}
