import type { Contender } from '../contenders/contenders.ts';
import type { Bench } from './bench.ts';
import type { Conditions } from './conditions.ts';
import { runDatabaseLoad } from './run-database-load.ts';
import { runServerLoad } from './run-server-load.ts';

/** Measures one contender once, with a new process. The table keeps its rows. */
export async function measure(
  bench: Bench,
  { server }: Pick<Contender, 'server'>,
  conditions: Conditions,
): Promise<Measurement> {
  const { database = bench.database } = conditions;
  const storesPlants = server?.storesPlants ?? true;
  const countPlants = async () => (storesPlants ? await database.countPlants() : 0);
  const before = await countPlants();
  const { warmUp, load, usage, databaseCpuSeconds } = server
    ? await runServerLoad(bench, database.url, server, conditions)
    : await runDatabaseLoad(bench, database.url, conditions);
  const rows = (await countPlants()) - before;

  const plants = server?.format.plants ?? 1;
  const requestsPerSecond = load.replies / load.seconds;
  return {
    requestsPerSecond,
    plantsPerSecond: requestsPerSecond * plants,
    p50: load.p50,
    p99: load.p99,
    errors: warmUp.errors + load.errors,
    acknowledged: storesPlants ? (warmUp.replies + load.replies) * plants : 0,
    rows,
    // Two loads ended: the warm-up and the measured one.
    unanswered: storesPlants ? 2 * conditions.connections * plants : 0,
    ...usage,
    ...(usage && { cpuPerRequest: (usage.cpuSeconds / load.replies) * 1e6 }),
    ...(databaseCpuSeconds !== undefined && {
      databaseCpuPerRequest: (databaseCpuSeconds / load.replies) * 1e6,
    }),
  };
}

export interface Measurement {
  readonly requestsPerSecond: number;
  readonly plantsPerSecond: number;
  /** Milliseconds; the slowest of several instances. */
  readonly p50: number;
  readonly p99: number;
  readonly errors: number;
  /** The plants answered with 200, those of the warm-up included. */
  readonly acknowledged: number;
  /** The plants added to the table. */
  readonly rows: number;
  /** The plants that may be stored although the load ended before their reply arrived. */
  readonly unanswered: number;
  /** CPU time of the server's processes during the load. */
  readonly cpuSeconds?: number;
  /** Microseconds of CPU time of the server, and of Postgres, for each reply. */
  readonly cpuPerRequest?: number;
  readonly databaseCpuPerRequest?: number;
  /** Memory of the server's processes at the end of the load, in bytes. */
  readonly memory?: number;
}
