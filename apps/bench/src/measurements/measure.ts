import type { Contender } from '../contenders/contenders.ts';
import type { IdOrder, LoadResult } from '../load/load.ts';
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
  const { warmUps, load, idOrder, usage, databaseCpuSeconds } = server
    ? await runServerLoad(bench, database.url, server, conditions)
    : await runDatabaseLoad(bench, database.url, conditions);
  const rows = (await countPlants()) - before;

  const plants = server?.format.plants ?? 1;
  const requestsPerSecond = load.replies / load.seconds;
  const loads = [...warmUps, load];
  const sum = (of: (load: LoadResult) => number) => loads.map(of).reduce((a, b) => a + b);
  const cpuPerRequest = usage && (usage.cpuSeconds / load.replies) * 1e6;
  const databaseCpuPerRequest =
    databaseCpuSeconds === undefined ? undefined : (databaseCpuSeconds / load.replies) * 1e6;
  return {
    idOrder,
    requestsPerSecond,
    plantsPerSecond: requestsPerSecond * plants,
    p50: load.p50,
    p99: load.p99,
    errors: sum(({ errors }) => errors),
    acknowledged: storesPlants ? sum(({ replies }) => replies) * plants : 0,
    rows,
    unanswered: storesPlants ? loads.length * conditions.connections * plants : 0,
    ...usage,
    ...(cpuPerRequest !== undefined && { cpuPerRequest }),
    ...(databaseCpuPerRequest !== undefined && { databaseCpuPerRequest }),
    // pgbench has no server, so the database's CPU time is all.
    ...(databaseCpuPerRequest !== undefined && {
      totalCpuPerRequest: (cpuPerRequest ?? 0) + databaseCpuPerRequest,
    }),
  };
}

export interface Measurement {
  readonly idOrder: IdOrder;
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
  /** The plants that may be stored although a load ended before their reply arrived. */
  readonly unanswered: number;
  /** CPU time of the server's processes during the load. */
  readonly cpuSeconds?: number;
  /** Microseconds of CPU time for each reply: of the server, of Postgres, and of both. */
  readonly cpuPerRequest?: number;
  readonly databaseCpuPerRequest?: number;
  readonly totalCpuPerRequest?: number;
  /** Memory of the server's processes at the end of the load, in bytes. */
  readonly memory?: number;
}
