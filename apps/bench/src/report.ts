import { bounds } from './contenders.ts';
import { type Figures, median, medians, type Result } from './measure.ts';

const headers = ['case', 'contender', 'requests/s', 'server µs', 'Postgres µs', 'sum µs'];
headers.push('server ÷ first', '(each round)', 'sum ÷ first', 'MB');

/** Returns a table of the results, a verdict on each bound, and the faults. */
export function report(results: readonly Result[]): string {
  const rows = results.map((result) => {
    const { name, contender, rounds } = result;
    const first = results.find((each) => each.name === name) ?? result;
    const { perSecond, server, postgres, megabytes } = medians(rounds);
    return [
      ...[name, contender, decimal(perSecond)],
      ...[server, postgres, server + postgres].map((cost) => decimal(cost, 1)),
      decimal(median(ratios(result, first, serverCpu)), 3),
      ratios(result, first, serverCpu)
        .map((ratio) => decimal(ratio, 2))
        .join(' '),
      decimal(median(ratios(result, first, totalCpu)), 3),
      decimal(megabytes),
    ];
  });
  const faults = results.flatMap(({ name, contender, faults }) =>
    faults.map((fault) => `FAILED ${name}, ${contender}: ${fault}`),
  );
  return [table(rows), legend, ...verdicts(results), ...faults].join('\n\n');
}

const legend = `Figures are medians of the rounds. The microseconds are the CPU time for a request, in the server and in
Postgres. A ratio compares a row with the first row of the case, and is the median of the rounds' ratios.`;

const serverCpu = ({ server }: Figures) => server;
const totalCpu = ({ server, postgres }: Figures) => server + postgres;

function ratios(result: Result, base: Result, of: (figures: Figures) => number): number[] {
  return result.rounds.map((figures, round) => {
    const other = base.rounds[round];
    return other ? of(figures) / of(other) : Number.NaN;
  });
}

function verdicts(results: readonly Result[]): string[] {
  return bounds.flatMap(([name, ...[contender, other, most]]) => {
    const find = (wanted: string) =>
      results.find((each) => each.name === name && each.contender === wanted);
    const [result, base] = [find(contender), find(other)];
    if (!result || !base) return [];
    const ratio = median(ratios(result, base, totalCpu));
    const word = ratio <= most ? 'met' : 'missed';
    return `${name}, ${contender} ÷ ${other}: ${decimal(ratio, 2)} (at most ${most}): ${word}`;
  });
}

function decimal(value: number, digits = 0): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return Number.isFinite(value) ? value.toLocaleString('en-US', options) : '–';
}

function table(rows: readonly string[][]): string {
  const all = [headers, ...rows];
  const widths = headers.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)));
  const pad = (cell: string, i: number) =>
    i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
  return all.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}
