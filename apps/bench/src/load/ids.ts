import type { IdRange } from './load.ts';

/** The nth id of a load. */
export function nthId(order: IdRange['order'], n: number): number | string {
  return { sequential: Number, scattered: scatteredId, stored: storedId }[order](n);
}

/**
 * The id of the nth plant of a scattered load. These ids are spread over 10^11 values. None is a
 * multiple of 10^4, because those ids belong to the plants that fill a table beforehand.
 */
function scatteredId(n: number): number {
  // The factor and 10^7 have no common divisor, so all ids differ. No product exceeds 2^53.
  return (((n % 1e7) * 7_368_787) % 1e7) * 1e4 + 1 + Math.floor(n / 1e7);
}

/**
 * The id of one of the million plants that `fillForReads` stores, as text: JavaScript would round
 * its 19 digits. A million successive numbers lead to all of them, in scattered order.
 */
function storedId(n: number): string {
  const row = ((n % 1e6) * 7_368_787) % 1e6;
  return `${row % 2 === 0 ? '' : '-'}${1e6 + 8 * row}345678901234`;
}
