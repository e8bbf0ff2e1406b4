import { expect, it } from 'vitest';
import { comparisonGoals } from '../../src/modes/compare.ts';
import { verdict } from '../../src/report/goals.ts';
import { medians, speeds } from '../measured.ts';

const verdicts = (given: Parameters<typeof medians>[0] = {}) => {
  const goals = comparisonGoals(medians(given)).map(verdict);
  return { cpu: goals.slice(0, 4), speed: goals.slice(4, 11), p99: goals[11] };
};

const met = new Set(['met']);

it('says that no goal is measured when only our server was measured', () => {
  const of = (name: string) => (name.startsWith('ours') ? 1 : Number.NaN);
  const goals = comparisonGoals(of).filter(({ claim }) => !claim.includes('batches'));
  expect(new Set(goals.map(verdict))).toEqual(new Set(['not measured']));
});

it('says that goals about the best peer are not measured when one peer was not measured', () => {
  const goals = comparisonGoals((name) => (name === 'hono' ? Number.NaN : 1)).map(verdict);
  expect([goals[1], goals[4], goals[11]]).toEqual(Array(3).fill('not measured'));
  expect(goals.filter((goal) => goal === 'not measured').length).toBe(3);
});

it('misses most goals when the store and its peers have the same speed', () => {
  const { speed, ...others } = verdicts(speeds({ 'ours-trpc-10': 1000 }));
  expect(others).toEqual({ cpu: ['missed', 'missed', 'missed', 'met'], p99: 'missed' });
  expect(speed).toEqual(['missed', 'missed', 'missed', 'met', 'met', 'missed', 'met']);
});

it('meets the speed goals with a fast store, and misses one goal when a single peer is faster', () => {
  const fast = { 'ours-rest': 7000, 'ours-trpc': 2000, 'ours-trpc-10': 1400 };
  expect(new Set(verdicts(speeds(fast)).speed)).toEqual(met);
  expect(verdicts(speeds({ ...fast, orpc: 2000 })).speed[0]).toBe('missed');
  expect(verdicts(speeds({ ...fast, 'node-http': 20_000 })).speed[4]).toBe('missed');
});

it('meets the CPU goals with a cheap store, and misses one goal when a single peer is cheaper', () => {
  const cheap = { 'ours-rest': { totalCpu: 26, serverCpu: 13 } };
  expect(new Set(verdicts(cheap).cpu)).toEqual(met);
  const expected = ['met', 'missed', 'met', 'met'];
  expect(verdicts({ ...cheap, hono: { totalCpu: 100 } }).cpu).toEqual(expected);
});
