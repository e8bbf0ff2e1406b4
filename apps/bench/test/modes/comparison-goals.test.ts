import { expect, it } from 'vitest';
import { comparisonGoals } from '../../src/modes/comparison-goals.ts';
import { verdict } from '../../src/report/goals.ts';
import { measuredSummaries } from '../measured-summaries.ts';

const verdicts = (speeds?: Record<string, number>) =>
  comparisonGoals(measuredSummaries(speeds)).map(verdict);

it('decides no goal when only our server was measured', () => {
  const [oursRest] = measuredSummaries();
  const goals = comparisonGoals(oursRest ? [oursRest] : []);
  expect(new Set(goals.map(verdict))).toEqual(new Set(['not measured']));
});

it('does not decide a goal against the fastest peer when a peer was not measured', () => {
  const withoutHono = measuredSummaries().filter(({ name }) => name !== 'hono');
  const [drizzle] = comparisonGoals(withoutHono);
  expect(drizzle && verdict(drizzle)).toBe('not measured');
});

it('finds most goals missed when the store is only as fast as its peers', () => {
  expect(verdicts()).toEqual(['missed', 'missed', 'missed', 'met', 'met', 'missed', 'met', 'met']);
});

it('finds the goals met when the store is fast, and one missed when a single peer is faster', () => {
  const fast = { 'ours-rest': 7000, 'ours-trpc': 2000, 'ours-trpc-10': 1400 };
  expect(new Set(verdicts(fast))).toEqual(new Set(['met']));
  expect(verdicts({ ...fast, orpc: 2000 })[0]).toBe('missed');
  expect(verdicts({ ...fast, 'node-http': 20_000 })[4]).toBe('missed');
});
