import { expect, it } from 'vitest';
import { resultsTable } from '../../src/report/results-table.ts';
import { measuredSummaries } from '../measured-summaries.ts';

it('prints the ratio to the base after each figure', () => {
  const summaries = measuredSummaries({ hono: 250 });
  expect(resultsTable(summaries, summaries[0])).toMatch(/Hono .* 250 +0\.25×/);
});
