import { expect, it } from 'vitest';
import { costsTable } from '../../src/report/costs-table.ts';
import { measuredSummaries } from '../measured-summaries.ts';

it('prints the CPU time of a request, and a dash where it was not measured', () => {
  const [ours] = measuredSummaries();
  const costs = { cpuPerRequest: 41.6, databaseCpuPerRequest: 12.1 };
  expect(ours && costsTable([{ ...ours, ...costs }])).toMatch(/ours, REST .* 0 +42 +12 +–$/);
  expect(ours && costsTable([ours])).toMatch(/ours, REST .* 0 +– +– +–$/);
});
