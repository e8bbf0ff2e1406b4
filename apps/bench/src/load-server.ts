import type { Server } from './contenders.ts';
import type { LoadResult } from './load.ts';
import type { Bench, Conditions, Outcome } from './measure.ts';
import { type ProcessStats, processStats } from './process-stats.ts';
import { type StartedServer, startServer } from './started-server.ts';
import { bodyPieces, usualPlant } from './wire.ts';

/** The access token of a benchmark. */
export const token = 'benchmark';

/** Starts a server, puts it under load and stops it. */
export async function loadServer(
  { generator, freeIds }: Bench,
  databaseUrl: string,
  { program, env, wire }: Server,
  conditions: Conditions,
): Promise<Outcome> {
  const { connections, plant = usualPlant, order = 'rising', instances = 1 } = conditions;
  const settings = { ...env, DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: token };
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

function together(results: readonly LoadResult[]): LoadResult {
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
  servers: readonly StartedServer[],
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

/** The usage of all together; undefined where the machine does not tell it. */
async function usageOf(servers: readonly StartedServer[]): Promise<ProcessStats | undefined> {
  const all = await Promise.all(servers.map(({ pid }) => processStats(pid)));
  return all.reduce(
    (total, one) =>
      total &&
      one && { cpuSeconds: total.cpuSeconds + one.cpuSeconds, memory: total.memory + one.memory },
  );
}
