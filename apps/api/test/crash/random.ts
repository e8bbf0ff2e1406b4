/** Numbers that a seed determines. */
export interface Random {
  /** A whole number from `min` to `max`. */
  whole(min: number, max: number): number;
  isLikely(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
}

/** Makes the random numbers of a seed with the algorithm mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
    isLikely: (probability) => next() < probability,
    pick<T>(values: readonly T[]): T {
      if (values.length === 0) throw new Error('there is nothing to pick from');
      return values[Math.floor(next() * values.length)] as T; // The cast is safe: the index is in range.
    },
  };
}
