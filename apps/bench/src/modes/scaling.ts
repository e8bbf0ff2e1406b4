import { oursRest } from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import { type LoadConditions, type LoadFigures, loadCase } from '../measurements/load-case.ts';
import { loadTable } from '../measurements/load-table.ts';
import { type Medians, type Report, runPlan } from '../measurements/run-plan.ts';
import { atLeast, type Goal } from '../report/goals.ts';
import { loadTimes, type ModeOptions } from './mode-options.ts';

export const scalingConnections = scaling(
  'connections',
  [1, 8, 32, 128, 1000],
  (connections) => ({ connections }),
  (of) => {
    const speed = (connections: string) => of(connections, 'requestsPerSecond');
    const claim = 'requests per second at 1,000 connections ÷ at 32';
    return [atLeast(0.9, claim, speed('1000') / speed('32'))];
  },
);

/** Measures several servers that share a database. Each server has one process. */
export const scalingInstances = scaling('instances', [1, 2, 4, 8], (instances) => ({
  connections: 256,
  instancesOn: Array(instances).fill(0),
}));

/** Measures one server with several processes. The processes share the address of the server. */
export const scalingProcesses = scaling('processes', [1, 2, 4], (processes) => ({
  connections: 256,
  server: { ...oursRest.server, env: { PLANT_STORE_PROCESSES: String(processes) } },
}));

/** Makes a mode that measures our server with several values of a condition. */
function scaling(
  title: string,
  values: readonly number[],
  conditionsOf: (value: number) => Partial<LoadConditions> & { connections: number },
  goals: (of: Medians<LoadFigures>) => Goal[] = () => [],
) {
  return (bench: Bench, options: ModeOptions): Promise<Report> => {
    const times = loadTimes(options);
    const cases = values.map((value) => {
      const row = { ...oursRest, name: String(value), title: `${title}: ${value}` };
      return loadCase(bench, times, { ...row, ...conditionsOf(value) });
    });
    return runPlan(bench, { cases, rounds: times.rounds, table: loadTable, goals });
  };
}
