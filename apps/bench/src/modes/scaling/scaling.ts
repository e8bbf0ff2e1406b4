import type { Bench } from '../../measurements/bench.ts';
import type { Report } from '../../report/report.ts';
import { connections } from './connections.ts';
import { instances } from './instances.ts';
import { payloads } from './payloads.ts';
import { tables } from './tables.ts';

const all = { connections, tables, instances, payloads };

export type Scaling = keyof typeof all;

export const scalings = Object.keys(all) as Scaling[]; // `all` has no other keys.

/** Measures how the speed changes with the connections, the table, the instances and the payload. */
export async function scaling(
  bench: Bench,
  { scalings, quick }: { scalings: readonly Scaling[]; quick: boolean },
): Promise<Report> {
  const reports: [Scaling, Report][] = [];
  for (const name of scalings) reports.push([name, await all[name](bench, { quick })]);
  return {
    text: reports.map(([, { text }]) => text).join('\n\n'),
    goals: reports.flatMap(([, { goals }]) => goals),
    faults: reports.flatMap(([, { faults }]) => faults),
    measured: Object.fromEntries(reports.map(([name, { measured }]) => [name, measured])),
  };
}
