/** The state of one id: the content of its plant, or null without a plant. */
type State = string | null;

/**
 * An action on one id, and its result. A create is `done` when the store has this plant afterwards, and
 * `rejected` when another plant has the id. The other changes are `rejected` when no plant has the id.
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

/** An operation on one id. The store executes the operation between its start and its end, or never. */
export interface Operation {
  readonly action: Action;
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
  /** Whether the store certainly executed the operation. */
  readonly isCertain: boolean;
}

/**
 * Returns whether some order of the operations explains all their results. The store executes each certain
 * operation once, between its start and its end. An uncertain operation may be missing from the order.
 *
 * The function uses the algorithm of Wing and Gong. Several orders of the same operations can lead to the
 * same state. Like the algorithms of Lowe and Porcupine, the function continues only one of these orders.
 */
export function isExplainable(operations: readonly Operation[]): boolean {
  const sorted = operations.toSorted((a, b) => a.start - b.start);
  const certain = sorted.reduce((set, { isCertain }, i) => (isCertain ? set | bit(i) : set), 0n);
  const tried = new Set<string>();

  /**
   * @param done the operations of the order so far
   * @param latestStart the latest start of the operations in `done`
   * @param first the index before which all operations are in `done`
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
    // The next operation must start before the end of each remaining certain operation.
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
      // At the time `end`, the store may not yet have executed an operation that ends later.
      .map((operation) => ({
        ...operation,
        isCertain: operation.isCertain && operation.end <= end,
      }));
  const ends = operations.filter(({ isCertain }) => isCertain).map(({ end }) => end);
  const first = ends.toSorted((a, b) => a - b).find((end) => !isExplainable(until(end)));
  return operations.filter(({ start }) => start <= (first ?? Number.POSITIVE_INFINITY));
}

/**
 * The maximum number of tries. Operations with unknown results have exponentially many orders. A longer
 * search would block the clients of the other histories.
 */
const maxTried = 200_000;

const bit = (i: number) => 1n << BigInt(i);
