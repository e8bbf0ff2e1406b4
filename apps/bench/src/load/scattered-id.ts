/**
 * The id of the nth plant of a scattered load. These ids are spread over 10^11 values. None is a
 * multiple of 10^4, because those ids belong to the plants that fill a table beforehand.
 */
export function scatteredId(n: number): number {
  // The factor and 10^7 have no common divisor, so all ids differ. No product exceeds 2^53.
  return (((n % 1e7) * 7_368_787) % 1e7) * 1e4 + 1 + Math.floor(n / 1e7);
}
