import { fastifyPostgres, oursRest, trpcToOpenapi } from '../../contenders/contenders.ts';
import type { Summary } from '../../measurements/summary.ts';
import { atLeast, type Goal, ratio } from '../../report/goals.ts';

/** The goals that a comparison of reads decides. */
export function readingGoals(summaries: readonly Summary[]): Goal[] {
  const speed = (name: string) =>
    summaries.find((summary) => summary.name === name)?.requestsPerSecond;
  const goal = (bound: number, operation: string, { name, title }: Named) =>
    atLeast(
      bound,
      `${operation}, ours REST ÷ ${title}`,
      ratio(speed(`${oursRest.name}, ${operation}`), speed(`${name}, ${operation}`)),
    );
  return [
    goal(1.5, 'get', fastifyPostgres),
    goal(4, 'get', trpcToOpenapi),
    goal(0.9, 'list', fastifyPostgres),
    goal(2, 'list', trpcToOpenapi),
  ];
}

interface Named {
  readonly name: string;
  readonly title: string;
}
