import { describe, expect, it } from 'vitest';
import { comparisonGoals } from '../src/comparison-goals.ts';
import { contenders } from '../src/contenders.ts';
import { atLeast, atMost, verdict } from '../src/goals.ts';
import { goalsTable } from '../src/goals-table.ts';
import type { Measurement } from '../src/measure.ts';
import { growth } from '../src/modes/soak.ts';
import { resultsTable } from '../src/results-table.ts';
import { median, summarize } from '../src/summary.ts';

const round: Measurement = {
  requestsPerSecond: 1000,
  plantsPerSecond: 1000,
  p50: 1,
  p99: 2,
  errors: 0,
  acknowledged: 5000,
  rows: 5010,
  unanswered: 64,
};

/** Every contender at 1000 requests a second, but for those named. */
function summaries(speeds: Record<string, number> = {}) {
  return contenders.map((contender) => {
    const speed = speeds[contender.name] ?? 1000;
    const plants = contender.server?.wire.plants ?? 1;
    return summarize(contender, [
      { ...round, requestsPerSecond: speed, plantsPerSecond: speed * plants },
    ]);
  });
}

const verdicts = (speeds?: Record<string, number>) =>
  comparisonGoals(summaries(speeds)).map(verdict);

describe('a goal', () => {
  it('is met at its bound and missed beyond it', () => {
    expect(verdict(atLeast(4, '', 4))).toBe('met');
    expect(verdict(atLeast(4, '', 3.99))).toBe('missed');
    expect(verdict(atMost(1, '', 1))).toBe('met');
    expect(verdict(atMost(1, '', 1.01))).toBe('missed');
  });

  it('is not decided by what was not measured', () => {
    expect(verdict(atLeast(4, ''))).toBe('not measured');
    const [oursRest] = summaries();
    const alone = comparisonGoals(oursRest ? [oursRest] : []);
    expect(new Set(alone.map(verdict))).toEqual(new Set(['not measured']));
  });

  it('is not decided by the fastest of some peers where others were not measured', () => {
    const some = summaries().filter(({ name }) => name !== 'hono');
    const [drizzle] = comparisonGoals(some);
    expect(drizzle && verdict(drizzle)).toBe('not measured');
  });

  it('is missed by a store that is as fast as its peers, and says by how much', () => {
    expect(verdicts()).toEqual(
      [...Array(6).fill('missed'), 'met', 'met'].with(3, 'met').with(4, 'met'),
    );
    expect(goalsTable(comparisonGoals(summaries()))).toMatch(
      /fastest with Drizzle +at least 4 +1\.00 +missed/,
    );
  });

  it('is met by a store that is fast enough, and missed when a single peer is faster', () => {
    const fast = { 'ours-rest': 7000, 'ours-trpc': 2000, 'ours-trpc-10': 1400 };
    expect(new Set(verdicts(fast))).toEqual(new Set(['met']));
    expect(verdicts({ ...fast, orpc: 2000 })[0]).toBe('missed');
    expect(verdicts({ ...fast, 'node-http': 20_000 })[4]).toBe('missed');
  });
});

describe('a summary', () => {
  it('takes the median of the rounds', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([])).toBeUndefined();
  });

  const [contender] = contenders;
  const faults = (measured: Partial<Measurement>) =>
    contender && summarize(contender, [round, { ...round, ...measured }]).faults;

  it('finds no fault with plants whose reply was under way when the load ended', () => {
    expect(faults({ rows: 5000 })).toEqual([]);
    expect(faults({ rows: 5064 })).toEqual([]);
  });

  it('finds lost plants, plants that nobody sent, and errors', () => {
    expect(faults({ rows: 4999 })).toEqual(['1 plants answered with 200 are not in the table']);
    expect(faults({ rows: 5065 })).toEqual(['1 plants in the table that nobody sent']);
    expect(faults({ errors: 3 })).toEqual(['3 errors']);
  });

  it('is shown with its ratio to the base', () => {
    const all = summaries({ hono: 250 });
    expect(resultsTable(all, all[0])).toMatch(/Hono .* 250 +0\.25×/);
  });
});

it('compares the memory at the end with that after the start', () => {
  expect(growth([50, 90, 100, 100, 100, 100, 100, 100])).toBe(1);
  expect(growth([50, 90, 100, 100, 110, 120, 130, 140])).toBe(1.35);
});
