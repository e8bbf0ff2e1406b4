import { decimal } from '../report/format-table.ts';
import type { Goal } from '../report/goals.ts';
import type { Bench } from './bench.ts';
import { median } from './statistics.ts';

/** What a mode measures, and how the mode shows its results. */
export interface Plan<F extends Figures> {
  readonly cases: readonly Case<F>[];
  readonly rounds: number;
  /**
   * How many times a round measures each case. If 1, only one case runs at a time. If more, all cases run,
   * and the round measures one case after another.
   */
  readonly turns?: number;
  readonly table: (results: readonly Result<F>[]) => string;
  readonly goals?: (of: Medians<F>) => Goal[];
}

/** A case is a row in the table of a mode. Each round starts, measures and stops each case. */
export interface Case<F extends Figures> {
  readonly name: string;
  readonly title: string;
  start(): Promise<Running<F>>;
}

export interface Running<F extends Figures> {
  measure(): Promise<F>;
  /** Returns the faults of the measurements, such as lost plants. */
  stop(): Promise<string[]>;
}

/** The measured figures. A value is NaN when this machine cannot measure the figure. */
export type Figures = Readonly<Record<string, number>>;

export interface Result<F extends Figures> {
  readonly name: string;
  readonly title: string;
  /** The figures of each turn in each round. */
  readonly rounds: F[][];
  readonly faults: string[];
}

/** Returns the median of a case's figure, or NaN when the case was not measured. */
export type Medians<F extends Figures> = (name: string, figure: keyof F) => number;

/** The result of a mode. */
export interface Report {
  readonly text: string;
  readonly goals: readonly Goal[];
  readonly faults: readonly string[];
}

/**
 * Measures every case in each round, so that a change in the machine's speed affects all cases. Each
 * round starts with a different case.
 */
export async function runPlan<F extends Figures>(
  { progress }: Pick<Bench, 'progress'>,
  { cases, rounds, turns = 1, table, goals }: Plan<F>,
): Promise<Report> {
  const rows = cases.map((each): Row<F> => ({ ...each, rounds: [], faults: [] }));
  for (let round = 1; round <= rounds; round++) {
    for (const group of turns > 1 ? [rows] : rows.map((row) => [row])) {
      await measureTogether(group, turns, ({ title }, figures) => {
        const [[name, value] = ['', Number.NaN]] = Object.entries(figures);
        progress(`round ${round} of ${rounds}: ${title}: ${name} ${decimal(value, 2)}`);
      });
    }
    rows.push(...rows.splice(0, 1));
  }
  const results = cases.flatMap(({ name }) => rows.find((row) => row.name === name) ?? []);
  const find = (name: string) => results.find((result) => result.name === name);
  return {
    text: table(results),
    goals: goals?.((name, figure) => medianOf(find(name), figure)) ?? [],
    faults: results.flatMap(({ title, faults }) => faults.map((fault) => `${title}: ${fault}`)),
  };
}

type Row<F extends Figures> = Case<F> & Result<F>;

/** Starts all cases of a group, and measures the cases in turn. */
async function measureTogether<F extends Figures>(
  group: readonly Row<F>[],
  turns: number,
  onMeasured: (row: Row<F>, figures: F) => void,
): Promise<void> {
  const started: [Row<F>, Running<F>][] = [];
  try {
    for (const row of group) {
      started.push([row, await row.start()]);
      row.rounds.push([]);
    }
    for (let turn = 0; turn < turns; turn++) {
      // Every second turn measures the cases in reverse order.
      for (const [row, running] of turn % 2 === 0 ? started : started.toReversed()) {
        const figures = await running.measure();
        row.rounds.at(-1)?.push(figures);
        onMeasured(row, figures);
      }
    }
  } finally {
    for (const [row, running] of started) row.faults.push(...(await running.stop()));
  }
}

export function valuesOf<F extends Figures>(result: Result<F> | undefined, figure: keyof F) {
  return (result?.rounds.flat() ?? []).map((figures) => figures[figure]);
}

export function medianOf<F extends Figures>(result: Result<F> | undefined, figure: keyof F) {
  return median(valuesOf(result, figure));
}
