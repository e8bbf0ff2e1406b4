import { type Goal, isMet } from './goals.ts';
import { table } from './table.ts';

/** A line for each goal, with what was measured and whether it is met. */
export function goalsTable(goals: readonly Goal[]): string {
  const rows = goals.map((goal) => [
    goal.claim,
    `${goal.sense} ${goal.bound}`,
    goal.measured?.toFixed(2) ?? '–',
    verdict(goal),
  ]);
  return table(['goal', '', 'measured', ''], rows);
}

function verdict(goal: Goal): string {
  const met = isMet(goal);
  if (met === undefined) return 'not measured';
  return met ? 'met' : 'missed';
}
