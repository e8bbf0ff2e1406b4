import type { Contender } from '../contenders/contenders.ts';
import type { IdOrder } from '../load/load.ts';
import type { Measurement } from './measure.ts';

/** The results of all rounds of one contender. */
export interface Summary {
  readonly name: string;
  readonly title: string;
  readonly role: Contender['role'];
  /** The same in all rounds. */
  readonly idOrder?: IdOrder;
  // Medians of the rounds:
  readonly requestsPerSecond: number;
  readonly plantsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuSeconds?: number;
  readonly cpuPerRequest?: number;
  readonly databaseCpuPerRequest?: number;
  readonly totalCpuPerRequest?: number;
  readonly memory?: number;
  // The slowest and the fastest round, in requests per second:
  readonly min: number;
  readonly max: number;
  // Sums of the rounds:
  readonly errors: number;
  readonly acknowledged: number;
  readonly rows: number;
  readonly unanswered: number;
  /** Errors, lost plants, and plants that nobody sent. */
  readonly faults: readonly string[];
  readonly rounds: readonly Measurement[];
}

export function summarize(
  { name, title, role }: Pick<Contender, 'name' | 'title' | 'role'>,
  rounds: readonly Measurement[],
): Summary {
  const values = (of: (round: Measurement) => number | undefined) =>
    rounds.map(of).filter((value) => value !== undefined);
  const sum = (of: (round: Measurement) => number) => values(of).reduce((a, b) => a + b, 0);
  const idOrder = rounds[0]?.idOrder;
  const speeds = values((round) => round.requestsPerSecond);
  const cpuSeconds = median(values((round) => round.cpuSeconds));
  const cpuPerRequest = median(values((round) => round.cpuPerRequest));
  const databaseCpuPerRequest = median(values((round) => round.databaseCpuPerRequest));
  const totalCpuPerRequest = median(values((round) => round.totalCpuPerRequest));
  const memory = median(values((round) => round.memory));
  return {
    name,
    title,
    role,
    ...(idOrder && { idOrder }),
    requestsPerSecond: median(speeds) ?? 0,
    plantsPerSecond: median(values((round) => round.plantsPerSecond)) ?? 0,
    p50: median(values((round) => round.p50)) ?? 0,
    p99: median(values((round) => round.p99)) ?? 0,
    ...(cpuSeconds !== undefined && { cpuSeconds }),
    ...(cpuPerRequest !== undefined && { cpuPerRequest }),
    ...(databaseCpuPerRequest !== undefined && { databaseCpuPerRequest }),
    ...(totalCpuPerRequest !== undefined && { totalCpuPerRequest }),
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

/** Undefined for an empty list. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low !== undefined && high !== undefined ? (low + high) / 2 : undefined;
}

/** The end of a load drops pending replies, so the table may contain that many more plants. */
function faultsOf({ errors, acknowledged, rows, unanswered }: Measurement): string[] {
  const lost = acknowledged - rows;
  const extra = rows - acknowledged - unanswered;
  return [
    ...(errors > 0 ? [`${errors} errors`] : []),
    ...(lost > 0 ? [`${lost} plants answered with 200 are not in the table`] : []),
    ...(extra > 0 ? [`${extra} plants in the table that nobody sent`] : []),
  ];
}
