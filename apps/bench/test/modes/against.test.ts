import { expect, it } from 'vitest';
import { changesTable } from '../../src/modes/against.ts';
import { resultOf } from '../measured.ts';

const result = (version: string, rounds: number[][]) =>
  resultOf(
    `rest, ${version}`,
    `REST, ${version}`,
    ...rounds.map((costs) => costs.map((serverCpu) => ({ serverCpu, databaseCpu: 20 }))),
  );

it('prints the CPU time of both commits, and the ratios of all rounds and of each round', () => {
  const before = result('before', [
    [100, 100, 500],
    [100, 100, 900],
  ]);
  const now = result('now', [
    [80, 80, 600],
    [40, 40, 700],
  ]);
  expect(changesTable([before, now])).toMatch(
    /REST +100\.0 → 53\.3 +0\.533 +\(0\.800 0\.400\) +20\.0 → 20\.0 +1\.000 +1,000 → 1,000 +128 → 128/,
  );
});

it('prints a dash instead of a ratio when Postgres used no CPU time', () => {
  const row = (version: string) => resultOf('embedded', version, [{ databaseCpu: 0 }]);
  expect(changesTable([row('before'), row('now')])).toMatch(/0\.0 → 0\.0 +– /);
});
