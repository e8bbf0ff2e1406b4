import { expect, it } from 'vitest';
import { comparisonGoals } from '../../src/modes/comparison-goals.ts';
import { verdict } from '../../src/report/goals.ts';
import { measuredSummaries } from '../measured-summaries.ts';

const verdicts = (speeds: Record<string, number> = {}, cpuTimes: Record<string, number> = {}) => {
  const goals = comparisonGoals(measuredSummaries(speeds, cpuTimes)).map(verdict);
  return { cpu: goals.slice(0, 4), speed: goals.slice(4, 11), p99: goals[11] };
};

it('decides no goal when only our server was measured', () => {
  const [oursRest] = measuredSummaries();
  const goals = comparisonGoals(oursRest ? [oursRest] : []);
  expect(new Set(goals.map(verdict))).toEqual(new Set(['not measured']));
});

it('does not decide a goal against the fastest peer when a peer was not measured', () => {
  const withoutHono = measuredSummaries().filter(({ name }) => name !== 'hono');
  const goals = comparisonGoals(withoutHono).map(verdict);
  expect([goals[1], goals[4]]).toEqual(['not measured', 'not measured']);
});

it('finds most goals missed when the store is only as fast as its peers', () => {
  expect(verdicts()).toEqual({
    cpu: ['missed', 'missed', 'missed', 'met'],
    speed: ['missed', 'missed', 'missed', 'met', 'met', 'missed', 'met'],
    p99: 'missed',
  });
});

it('finds the goals of the speed met when the store is fast, and one missed when a single peer is faster', () => {
  const fast = { 'ours-rest': 7000, 'ours-trpc': 2000, 'ours-trpc-10': 1400 };
  expect(new Set(verdicts(fast).speed)).toEqual(new Set(['met']));
  expect(verdicts({ ...fast, orpc: 2000 }).speed[0]).toBe('missed');
  expect(verdicts({ ...fast, 'node-http': 20_000 }).speed[4]).toBe('missed');
});

it('finds the goals of the CPU time met when the store needs little, and one missed when a single peer is cheap', () => {
  expect(new Set(verdicts({}, { 'ours-rest': 13 }).cpu)).toEqual(new Set(['met']));
  const expected = ['met', 'missed', 'met', 'met'];
  expect(verdicts({}, { 'ours-rest': 13, hono: 50 }).cpu).toEqual(expected);
});
