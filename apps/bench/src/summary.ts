import type { Contender } from './contenders.ts';
import type { Measurement } from './measure.ts';

/** All rounds of one contender. */
export interface Summary {
  readonly name: string;
  readonly title: string;
  readonly role: Contender['role'];
  /** Medians over the rounds. */
  readonly requestsPerSecond: number;
  readonly plantsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuSeconds?: number;
  readonly memory?: number;
  /** Of the requests per second. */
  readonly min: number;
  readonly max: number;
  /** Sums over the rounds. */
  readonly errors: number;
  readonly acknowledged: number;
  readonly rows: number;
  readonly unanswered: number;
  /** What is wrong with it but for its speed: errors, lost plants, plants from nowhere. */
  readonly faults: readonly string[];
  readonly rounds: readonly Measurement[];
}

export function summarize(
  { name, title, role }: Pick<Contender, 'name' | 'title' | 'role'>,
  rounds: readonly Measurement[],
): Summary {
  const all = (of: (round: Measurement) => number | undefined) =>
    rounds.map(of).filter((value) => value !== undefined);
  const sum = (of: (round: Measurement) => number) => all(of).reduce((a, b) => a + b, 0);
  const speeds = all((round) => round.requestsPerSecond);
  const cpuSeconds = median(all((round) => round.cpuSeconds));
  const memory = median(all((round) => round.memory));
  return {
    name,
    title,
    role,
    requestsPerSecond: median(speeds) ?? 0,
    plantsPerSecond: median(all((round) => round.plantsPerSecond)) ?? 0,
    p50: median(all((round) => round.p50)) ?? 0,
    p99: median(all((round) => round.p99)) ?? 0,
    ...(cpuSeconds !== undefined && { cpuSeconds }),
    ...(memory !== undefined && { memory }),
    min: Math.min(...speeds),
    max: Math.max(...speeds),
    errors: sum((round) => round.errors),
    acknowledged: sum((round) => round.acknowledged),
    rows: sum((round) => round.rows),
    unanswered: sum((round) => round.unanswered),
    faults: rounds.flatMap(faultsOf),
    rounds,
  };
}

/** The middle one; undefined of none. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low !== undefined && high !== undefined ? (low + high) / 2 : undefined;
}

/** A load that ends drops the replies under way, so the table may hold that many plants more. */
function faultsOf({ errors, acknowledged, rows, unanswered }: Measurement): string[] {
  const lost = acknowledged - rows;
  const extra = rows - acknowledged - unanswered;
  return [
    ...(errors > 0 ? [`${errors} errors`] : []),
    ...(lost > 0 ? [`${lost} plants answered with 200 are not in the table`] : []),
    ...(extra > 0 ? [`${extra} plants in the table that nobody sent`] : []),
  ];
}
