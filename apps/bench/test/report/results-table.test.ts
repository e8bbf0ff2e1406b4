import { expect, it } from 'vitest';
import { resultsTable } from '../../src/report/results-table.ts';
import { measuredSummaries } from '../measured-summaries.ts';

it('prints the ratio to the base after each figure', () => {
  const summaries = measuredSummaries({ hono: 250 });
  expect(resultsTable(summaries, summaries[0])).toMatch(/Hono .* 250 +0\.25×/);
});

it('prints the size of the ids, and the CPU time of the server, of Postgres and of both', () => {
  const summaries = measuredSummaries({}, { hono: 250 });
  const table = resultsTable(summaries, summaries[0]);
  expect(table).toMatch(/^contender +ids .* server µs +Postgres µs +sum µs +MB$/m);
  expect(table).toMatch(
    /^Hono .* 19 digits .* 250\.0 +2\.50× +250\.0 +2\.50× +500\.0 +2\.50× +–$/m,
  );
});
