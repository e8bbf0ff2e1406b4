import { expect, it } from 'vitest';
import { readingGoals } from '../../src/modes/reading/reading-goals.ts';
import { verdict } from '../../src/report/goals.ts';
import { measuredSummaries } from '../measured-summaries.ts';

/** The verdicts when reads have the same speeds, except ours. */
const verdicts = (getSpeed: number, listSpeed: number) => {
  const operations = { get: getSpeed, list: listSpeed };
  const summaries = Object.entries(operations).flatMap(([operation, speed]) =>
    measuredSummaries({ 'ours-rest': speed }).map((summary) => ({
      ...summary,
      name: `${summary.name}, ${operation}`,
    })),
  );
  return readingGoals(summaries).map(verdict);
};

it('decides the goals for get and for list by the speeds of each', () => {
  expect(verdicts(4000, 2000)).toEqual(['met', 'met', 'met', 'met']);
  expect(verdicts(1500, 900)).toEqual(['met', 'missed', 'met', 'missed']);
  expect(verdicts(1499, 899)).toEqual(['missed', 'missed', 'missed', 'missed']);
});

it('decides no goal when nothing was measured', () => {
  expect(new Set(readingGoals([]).map(verdict))).toEqual(new Set(['not measured']));
});
