import type { BenchDatabase } from './bench-database.ts';
import type { BenchServer } from './bench-server.ts';
import type { Contender } from './contenders.ts';
import type { FreeIds } from './ids.ts';
import type { Ids, LoadGenerator, LoadResult } from './load.ts';
import { loadDatabase } from './load-database.ts';
import { loadServer } from './load-server.ts';
import type { ProcessStats } from './process-stats.ts';
import type { Content } from './wire.ts';

/** What a benchmark has for all of its measurements. */
export interface Bench {
  readonly server: BenchServer;
  /** Where plants go unless conditions say otherwise. */
  readonly database: BenchDatabase;
  readonly generator: LoadGenerator;
  readonly freeIds: FreeIds;
  /** Is told what has been measured as it goes. */
  readonly progress: (line: string) => void;
}

export interface Conditions {
  readonly database?: BenchDatabase;
  readonly connections: number;
  /** Seconds of the same load beforehand. */
  readonly warmUp: number;
  readonly seconds: number;
  readonly plant?: Content;
  readonly order?: Ids['order'];
  /** Processes of the server, which share the connections equally. */
  readonly instances?: number;
  /** What is told of the server's processes during the load, every so many seconds. */
  readonly sample?: { readonly every: number; readonly take: (stats: ProcessStats) => void };
}

export interface Measurement {
  readonly requestsPerSecond: number;
  readonly plantsPerSecond: number;
  /** Milliseconds; of several instances the slowest. */
  readonly p50: number;
  readonly p99: number;
  readonly errors: number;
  /** Plants answered with 200, warm-up included. */
  readonly acknowledged: number;
  /** Plants that have appeared in the table. */
  readonly rows: number;
  /** Plants that may be stored although the load ended before their reply came. */
  readonly unanswered: number;
  /** Of the server's processes during the load. */
  readonly cpuSeconds?: number;
  /** Of the server's processes at the end, in bytes. */
  readonly memory?: number;
}

/** What a contender did under load; pgbench has no server whose usage could be told. */
export interface Outcome {
  readonly warmUp: LoadResult;
  readonly load: LoadResult;
  readonly usage?: ProcessStats | undefined;
}

/** Measures one contender once: a fresh process, on the table as it is. */
export async function measure(
  bench: Bench,
  { server }: Contender,
  conditions: Conditions,
): Promise<Measurement> {
  const { database = bench.database } = conditions;
  const before = await database.countPlants();
  const { warmUp, load, usage } = server
    ? await loadServer(bench, database.url, server, conditions)
    : await loadDatabase(bench, database.url, conditions);
  const rows = (await database.countPlants()) - before;

  const { plants, stores } = server ? { ...server.wire, ...server } : { plants: 1, stores: true };
  const requestsPerSecond = load.replies / load.seconds;
  return {
    requestsPerSecond,
    plantsPerSecond: requestsPerSecond * plants,
    p50: load.p50,
    p99: load.p99,
    errors: warmUp.errors + load.errors,
    acknowledged: stores ? (warmUp.replies + load.replies) * plants : 0,
    rows,
    unanswered: stores ? 2 * conditions.connections * plants : 0,
    ...usage,
  };
}
