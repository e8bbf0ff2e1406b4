/** The state of one id: the content of its plant, or null without a plant. */
type State = string | null;

/**
 * An action on one id, with its result. A create is `done` when the id then has its plant, and `rejected` when
 * the id belongs to another plant. The other changes are `rejected` when the id has no plant.
 */
export type Action =
  | { readonly type: 'create' | 'replace'; readonly content: string; readonly result: Result }
  | { readonly type: 'delete'; readonly result: Result }
  | { readonly type: 'read'; readonly state: State };

type Result = 'done' | 'rejected' | 'unknown';

/** Returns the state after an action, or undefined when the result is impossible in the given state. */
function stateAfter(state: State, action: Action): State | undefined {
  if (action.type === 'read') return action.state === state ? state : undefined;
  const isPossible =
    action.type === 'create' ? state === null || state === action.content : state !== null;
  if (action.result !== 'unknown' && (action.result === 'done') !== isPossible) return undefined;
  if (!isPossible) return state;
  return action.type === 'delete' ? null : action.content;
}

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
 */
export function isExplainable(operations: readonly Operation[]): boolean {
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
    // After this many tries, an order may still exist, so the checker reports no problem.
    if (tried.size === maxTried) return true;
    tried.add(key);

    let firstLeft = first;
    while (done & bit(firstLeft)) firstLeft++;
    // An operation can be next only if it started before each remaining operation ended.
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
  return search(0n, Number.NEGATIVE_INFINITY, 0, null);
}

/**
 * Finds the first operation whose result is impossible in every order of the operations. Returns all operations
 * that started before this operation ended.
 */
export function unexplainedPart<Op extends Operation>(operations: readonly Op[]): Op[] {
  const until = (end: number) =>
    operations
      .filter(({ start }) => start <= end)
      // An operation that ends after `end` may take effect after `end`.
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
