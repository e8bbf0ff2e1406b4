import type { BenchDatabase } from './bench-database.ts';
import type { Contender, Server } from './contenders.ts';
import type { FreeIds } from './ids.ts';
import type { Ids, LoadGenerator, LoadResult } from './load.ts';
import { runPgbench } from './pgbench-load.ts';
import { type ProcessStats, processStats } from './process-stats.ts';
import { type StartedServer, startServer } from './started-server.ts';
import { bodyPieces, type Content, usualPlant } from './wire.ts';

/** What a benchmark has for all of its measurements. */
export interface Bench {
  readonly database: BenchDatabase;
  readonly generator: LoadGenerator;
  readonly freeIds: FreeIds;
}

export interface Conditions {
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

export const token = 'benchmark';

/** Measures one contender once: a fresh process on the table as it is. */
export async function measure(
  bench: Bench,
  { server }: Contender,
  conditions: Conditions,
): Promise<Measurement> {
  const before = await bench.database.countPlants();
  const outcome = server
    ? await loadServer(bench, server, conditions)
    : await loadDatabase(bench, conditions);
  const { warmUp, load, usage } = outcome;
  const plants = server?.wire.plants ?? 1;
  const stores = server?.stores ?? true;
  const requestsPerSecond = load.replies / load.seconds;
  return {
    requestsPerSecond,
    plantsPerSecond: requestsPerSecond * plants,
    p50: load.p50,
    p99: load.p99,
    errors: warmUp.errors + load.errors,
    acknowledged: stores ? (warmUp.replies + load.replies) * plants : 0,
    rows: (await bench.database.countPlants()) - before,
    unanswered: stores ? 2 * conditions.connections * plants : 0,
    ...usage,
  };
}

interface Outcome {
  warmUp: LoadResult;
  load: LoadResult;
  usage?: ProcessStats | undefined;
}

async function loadServer(
  { database, generator, freeIds }: Bench,
  { program, env, wire }: Server,
  conditions: Conditions,
): Promise<Outcome> {
  const { connections, plant = usualPlant, order = 'rising', instances = 1 } = conditions;
  const settings = { ...env, DATABASE_URL: database.url, PLANT_STORE_TOKEN: token };
  const servers = await Promise.all(
    Array.from({ length: instances }, () => startServer(program, settings)),
  );
  const send = async (seconds: number) => {
    const loads = servers.map(({ url }) =>
      generator.run({
        url,
        path: wire.path,
        token,
        pieces: bodyPieces(wire, plant),
        ids: freeIds.take(order),
        connections: connections / instances,
        seconds,
      }),
    );
    return together(await Promise.all(loads));
  };
  try {
    const warmUp = await send(conditions.warmUp);
    const start = await usageOf(servers);
    const load = await sampled(servers, conditions.sample, () => send(conditions.seconds));
    const end = await usageOf(servers);
    const usage = start && end && { ...end, cpuSeconds: end.cpuSeconds - start.cpuSeconds };
    return { warmUp, load, usage };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function loadDatabase(
  { database, freeIds }: Bench,
  conditions: Conditions,
): Promise<Outcome> {
  const { connections: clients, plant = usualPlant, order = 'rising' } = conditions;
  const send = (seconds: number) =>
    runPgbench({ databaseUrl: database.url, plant, ids: freeIds.take(order), clients, seconds });
  return { warmUp: await send(conditions.warmUp), load: await send(conditions.seconds) };
}

function together(results: LoadResult[]): LoadResult {
  const sum = (of: (result: LoadResult) => number) =>
    results.reduce((all, one) => all + of(one), 0);
  return {
    replies: sum(({ replies }) => replies),
    errors: sum(({ errors }) => errors),
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
    p50: Math.max(...results.map(({ p50 }) => p50)),
    p99: Math.max(...results.map(({ p99 }) => p99)),
  };
}

async function sampled<T>(
  servers: StartedServer[],
  sample: Conditions['sample'],
  run: () => Promise<T>,
): Promise<T> {
  if (!sample) return run();
  const timer = setInterval(async () => {
    const stats = await usageOf(servers);
    if (stats) sample.take(stats);
  }, sample.every * 1000);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}

async function usageOf(servers: StartedServer[]): Promise<ProcessStats | undefined> {
  const all = await Promise.all(servers.map(({ pid }) => processStats(pid)));
  let total = { cpuSeconds: 0, memory: 0 };
  for (const one of all) {
    if (!one) return undefined;
    total = {
      cpuSeconds: total.cpuSeconds + one.cpuSeconds,
      memory: total.memory + one.memory,
    };
  }
  return total;
}
