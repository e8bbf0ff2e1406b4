import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import type { Report } from '../report.ts';
import { connections } from '../scaling/connections.ts';
import { instances } from '../scaling/instances.ts';
import { payloads } from '../scaling/payloads.ts';
import { tables } from '../scaling/tables.ts';

const all = { connections, tables, instances, payloads };

export type Scaling = keyof typeof all;

export const scalings = Object.keys(all) as Scaling[]; // Its own keys, and no others.

/** How the speed changes with the connections, the table, the instances and the payload. */
export async function scaling(bench: Bench, options: Options): Promise<Report> {
  const reports: [Scaling, Report][] = [];
  for (const name of options.scalings) reports.push([name, await all[name](bench, options)]);
  return {
    text: reports.map(([, { text }]) => text).join('\n\n'),
    goals: reports.flatMap(([, { goals }]) => goals),
    faults: reports.flatMap(([, { faults }]) => faults),
    measured: Object.fromEntries(reports.map(([name, { measured }]) => [name, measured])),
  };
}
