import { expect, it } from 'vitest';
import { oursRest } from '../../src/contenders/contenders.ts';
import { summarize } from '../../src/measurements/summary.ts';
import { costsTable } from '../../src/report/costs-table.ts';
import { measurement } from '../measured-summaries.ts';

it('prints the CPU time of a request, and a dash where it was not measured', () => {
  const costs = { cpuPerRequest: 41.6, databaseCpuPerRequest: 12.1 };
  const withCosts = summarize(oursRest, [{ ...measurement, ...costs }]);
  expect(costsTable([withCosts])).toMatch(/ours, REST .* 0 +42 +12 +–$/);
  expect(costsTable([summarize(oursRest, [measurement])])).toMatch(/ours, REST .* 0 +– +– +–$/);
});
