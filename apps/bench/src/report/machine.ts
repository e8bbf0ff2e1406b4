import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import type { BenchDatabase } from '../database/bench-database.ts';
import type { LoadGenerator } from '../load/load.ts';

/** The machine and the software that the figures depend on. */
export function describeMachine(database: BenchDatabase, generator: LoadGenerator) {
  return {
    cpu: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    os: `${type()} ${release()}`,
    node: `Node ${process.version}`,
    database: `Postgres ${database.version}`,
    load: generator.name,
  };
}
