import type { IdOrder } from './load.ts';

/** The nth id of a load. */
export function nthId(order: IdOrder, n: number): number | string {
  return { int64: int64Id, sequential: Number, scattered: scatteredId, stored: storedId }[order](n);
}

/**
 * The id of the nth plant of an `int64` load, as text: JavaScript would round its 19 digits. The last
 * 12 digits differ for all n below 10^12: the last 6 determine `low`, because its factor and 10^6
 * have no common divisor, and the 6 before them then determine `high`.
 */
function int64Id(n: number): string {
  const [low, high] = [n % 1e6, Math.floor(n / 1e6) % 1e6];
  const start = 1e6 + ((low * 5_368_787 + high * 3_141_593) % 8_223_371);
  const middle = (high * 271_829 + low * 618_033) % 1e6;
  const end = (low * 736_787) % 1e6;
  return `${n % 2 === 0 ? '' : '-'}${start}${sixDigits(middle)}${sixDigits(end)}`;
}

function sixDigits(n: number): string {
  return String(n).padStart(6, '0');
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
