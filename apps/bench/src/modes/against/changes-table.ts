import { median } from '../../measurements/summary.ts';
import { decimal } from '../../report/decimal.ts';
import { formatTable } from '../../report/format-table.ts';
import { ratio } from '../../report/goals.ts';
import type { CandidateTurns, Turn } from './turns.ts';

const header = [
  'create',
  'server µs',
  'now ÷ before',
  '(each round)',
  'Postgres µs',
  'now ÷ before',
  'requests/s',
  'MB',
];

const legend = `Before → now. Server µs and Postgres µs are the CPU time for a request, which has one plant or ten: the
means of the cheaper half of the turns, because other programs on the machine only add to a turn's cost.
Requests/s and MB are medians.`;

/** One row for each case: how much CPU time a create takes with each commit. */
export function changesTable(candidates: readonly CandidateTurns[]): string {
  const rows = candidates.flatMap((before) => {
    const now = candidates.find(({ name, version }) => name === before.name && version === 'now');
    return before.version === 'before' && now ? [rowOf(before, now)] : [];
  });
  return `${formatTable(header, rows)}\n\n${legend}`;
}

function rowOf(before: CandidateTurns, now: CandidateTurns): string[] {
  const all = { before: before.rounds.flat(), now: now.rounds.flat() };
  const change = (of: (turns: readonly Turn[]) => number | undefined, digits = 0) =>
    [all.before, all.now].map((turns) => decimal(of(turns) ?? Number.NaN, digits)).join(' → ');
  const ratioOf = (
    cost: (turns: readonly Turn[]) => number,
    turns: { before: readonly Turn[]; now: readonly Turn[] },
  ) => ratio(cost(turns.now), cost(turns.before) || undefined)?.toFixed(3) ?? '–'; // An embedded database costs 0.
  const server = (turns: readonly Turn[]) => cheaperHalf(turns.map(({ serverCpu }) => serverCpu));
  const database = (turns: readonly Turn[]) =>
    cheaperHalf(turns.map(({ databaseCpu }) => databaseCpu));
  const byRound = before.rounds.map((turns, round) =>
    ratioOf(server, { before: turns, now: now.rounds[round] ?? [] }),
  );
  return [
    before.title,
    change(server, 1),
    ratioOf(server, all),
    `(${byRound.join(' ')})`,
    change(database, 1),
    ratioOf(database, all),
    change((turns) => median(turns.map(({ requestsPerSecond }) => requestsPerSecond))),
    change((turns) => median(turns.map(({ memory }) => memory / 2 ** 20))),
  ];
}

/** The mean of the lower half of the values. */
export function cheaperHalf(values: readonly number[]): number {
  const half = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length / 2));
  return half.reduce((a, b) => a + b, 0) / half.length;
}
