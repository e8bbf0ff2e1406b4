import { type Action, type State, stateAfter } from './register.ts';

/** An operation on one id. The operation takes effect at one moment between its start and its end. */
export interface Operation {
  readonly action: Action;
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
  /** Whether it is certain that the operation took effect. */
  readonly isCertain: boolean;
}

/**
 * Returns whether some order of the operations explains all their results. Each operation takes effect at
 * one moment between its start and its end.
 *
 * The function uses the algorithm of Wing and Gong. A pair of a state and a set of done operations can occur
 * several times. The function tries each pair only once, like the algorithms of Lowe and Porcupine.
 *
 * @param initial the states that are possible before the first operation
 */
export function isExplainable(
  operations: readonly Operation[],
  initial: readonly State[] = [null],
): boolean {
  const sorted = operations.toSorted((a, b) => a.start - b.start);
  const certain = sorted.reduce((set, { isCertain }, i) => (isCertain ? set | bit(i) : set), 0n);
  const tried = new Set<string>();

  /**
   * @param done the operations that have taken effect
   * @param latestStart the latest start of the operations in `done`
   * @param first the first operation that has not taken effect
   */
  const search = (done: bigint, latestStart: number, first: number, state: State): boolean => {
    if ((done & certain) === certain) return true;
    const key = `${done.toString(36)} ${state}`;
    if (tried.has(key)) return false;
    // An order that nobody has found may exist. The other checks of the run still compare the tables.
    if (tried.size === maxTried) return true;
    tried.add(key);

    let firstLeft = first;
    while (done & bit(firstLeft)) firstLeft++;
    // An operation can be next only if the operation started before the end of all remaining operations.
    let firstEnd = Number.POSITIVE_INFINITY;
    for (let i = firstLeft; i < sorted.length; i++) {
      const operation = sorted[i];
      if (!operation || operation.start > firstEnd) break;
      if (operation.isCertain && !(done & bit(i))) firstEnd = Math.min(firstEnd, operation.end);
    }
    for (let i = firstLeft; i < sorted.length; i++) {
      const operation = sorted[i];
      if (!operation || operation.start > firstEnd) break;
      if (done & bit(i) || operation.end < latestStart) continue;
      const next = stateAfter(state, operation.action);
      if (next === undefined || (next === state && !operation.isCertain)) continue;
      const start = Math.max(latestStart, operation.start);
      if (search(done | bit(i), start, firstLeft, next)) return true;
    }
    return false;
  };
  return initial.some((state) => search(0n, Number.NEGATIVE_INFINITY, 0, state));
}

/**
 * Finds the first operation whose result is impossible in every order of the operations. Returns all operations
 * that started before this operation ended.
 */
export function unexplainedPart<Op extends Operation>(operations: readonly Op[]): Op[] {
  const until = (end: number) =>
    operations
      .filter(({ start }) => start <= end)
      // An operation that ends after `end` possibly takes effect only after `end`.
      .map((operation) => ({
        ...operation,
        isCertain: operation.isCertain && operation.end <= end,
      }));
  const ends = operations.filter(({ isCertain }) => isCertain).map(({ end }) => end);
  const first = ends.toSorted((a, b) => a - b).find((end) => !isExplainable(until(end)));
  return operations.filter(({ start }) => start <= (first ?? Number.POSITIVE_INFINITY));
}

/**
 * The maximum number of tries. Many operations without a known result have exponentially many orders, and a
 * longer search would block the servers and clients of the run.
 */
const maxTried = 200_000;

const bit = (i: number) => 1n << BigInt(i);
