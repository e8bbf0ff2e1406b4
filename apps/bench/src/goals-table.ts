import { type Goal, verdict } from './goals.ts';
import { table } from './table.ts';

/** A line for each goal: what was measured, and whether that meets it. */
export function goalsTable(goals: readonly Goal[]): string {
  const rows = goals.map((goal) => [
    goal.claim,
    `${goal.sense} ${goal.bound}`,
    goal.measured?.toFixed(2) ?? '–',
    verdict(goal),
  ]);
  return table(['goal', 'wanted', 'measured', 'verdict'], rows);
}
