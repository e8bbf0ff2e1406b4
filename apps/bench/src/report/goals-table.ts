import { formatTable } from './format-table.ts';
import { type Goal, verdict } from './goals.ts';

/** One row for each goal: its bound, the measured value and the verdict. */
export function goalsTable(goals: readonly Goal[]): string {
  const rows = goals.map((goal) => [
    goal.claim,
    `${goal.sense} ${goal.bound}`,
    goal.measured?.toFixed(2) ?? '–',
    verdict(goal),
  ]);
  return formatTable(['goal', 'wanted', 'measured', 'verdict'], rows);
}
