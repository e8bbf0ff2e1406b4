import { isExplainable, type Operation } from './checker.ts';
import { isObservation, type State } from './register.ts';

/**
 * Returns the part of an unexplained history that people need to see. It leaves out earlier calls, later
 * calls, and observations that any order explains.
 */
export function smallestHistory<Op extends Operation>(operations: readonly Op[]): Op[] {
  const shown = withoutStart(withoutEnd(operations));
  return shown.kept.reduce<Op[]>((left, operation) => {
    if (!isObservation(operation.action)) return left;
    const rest = left.filter((other) => other !== operation);
    return isExplainable(rest, shown.initial) ? left : rest;
  }, shown.kept);
}

/** Leaves out the calls that began after the first unexplained response. */
function withoutEnd<Op extends Operation>(operations: readonly Op[]): Op[] {
  const ends = operations.filter(({ isCertain }) => isCertain).map(({ end }) => end);
  const until = (end: number) =>
    operations
      .filter(({ start }) => start <= end)
      .map((operation) => (operation.end <= end ? operation : asPossible(operation)));
  const end = firstOf(
    ends.toSorted((a, b) => a - b),
    (end) => !isExplainable(until(end)),
  );
  return end === undefined ? [...operations] : until(end);
}

/** Leaves out as many of the first calls as possible. No state after these calls may explain the rest. */
function withoutStart<Op extends Operation>(operations: readonly Op[]) {
  const contents = operations.flatMap(({ action }) =>
    action.type === 'create' ? [action.content] : [],
  );
  const states: State[] = [null, ...new Set(contents)];
  const since = (start: number) =>
    operations
      .filter(({ end }) => end >= start)
      .map((operation) => (operation.start >= start ? operation : asPossible(operation)));
  const starts = operations.map(({ start }) => start).toSorted((a, b) => b - a);
  const start = firstOf(starts, (start) => !isExplainable(since(start), states));
  return start === undefined
    ? { kept: [...operations], initial: [null] }
    : { kept: since(start), initial: states };
}

/** Returns a copy of an operation that may have no effect within the shown part. */
function asPossible<Op extends Operation>(operation: Op): Op {
  if (!operation.isCertain) return operation;
  const { action } = operation;
  const unknown = action.type === 'read' ? action : { ...action, result: 'unknown' as const };
  return { ...operation, isCertain: false, action: unknown };
}

/** Finds the first value for which a condition holds. The condition must hold for all later values. */
function firstOf(values: readonly number[], holds: (value: number) => boolean) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(values[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return values[low];
}
