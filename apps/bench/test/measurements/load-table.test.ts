import { expect, it } from 'vitest';
import { loadTable } from '../../src/measurements/load-table.ts';
import { resultOf } from '../measured.ts';

it('prints the medians and the range of the rounds, and the ratios to the first row', () => {
  const first = resultOf('ours-rest', 'ours', [{}]);
  const second = resultOf(
    'hono',
    'Hono',
    [{ requestsPerSecond: 200, plantsPerSecond: 250, totalCpu: 500 }],
    [{ requestsPerSecond: 1300, plantsPerSecond: 250, totalCpu: 500 }],
  );
  const table = loadTable([first, second]);
  expect(table).toMatch(
    /^contender +requests\/s +\(min–max\) +plants\/s +÷ first +p50 ms +p99 ms +server µs +Postgres µs +sum µs +÷ first +processes +MB$/m,
  );
  expect(table).toMatch(
    /^Hono +750 +\(200–1,300\) +250 +0\.25 +1\.00 +2\.00 +100\.0 +100\.0 +500\.0 +2\.50 +1 +128$/m,
  );
});

it('prints a dash for each figure that this machine cannot measure', () => {
  const unknown = { serverCpu: Number.NaN, totalCpu: Number.NaN, megabytes: Number.NaN };
  expect(loadTable([resultOf('ours-rest', 'ours', [unknown])])).toMatch(/ – +100\.0 +– +– +1 +–$/m);
});
