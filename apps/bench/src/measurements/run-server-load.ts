import { accessToken } from '../contenders/access-token.ts';
import type { Server } from '../contenders/contenders.ts';
import type { LoadResult } from '../load/load.ts';
import { bodyParts, defaultPlant } from '../load/request-format.ts';
import { totalStats } from '../processes/process-stats.ts';
import { startServer } from '../processes/start-server.ts';
import type { Bench } from './bench.ts';
import type { Conditions } from './conditions.ts';
import type { LoadOutcome } from './load-outcome.ts';

/** Starts a server, puts it under load and stops it. */
export async function runServerLoad(
  { generator, ids }: Bench,
  databaseUrl: string,
  { program, env, format }: Server,
  conditions: Conditions,
): Promise<LoadOutcome> {
  const { connections, plant = defaultPlant, order = 'sequential', instances = 1 } = conditions;
  const settings = { ...env, DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: accessToken };
  const servers = await Promise.all(
    Array.from({ length: instances }, () => startServer(program, settings)),
  );
  const pids = servers.map(({ pid }) => pid);
  const send = async (seconds: number) => {
    const loads = servers.map(({ url }) =>
      generator.run({
        url,
        path: format.path,
        accessToken,
        bodyParts: bodyParts(format, plant),
        ids: ids.allocate(order),
        connections: connections / instances,
        seconds,
      }),
    );
    return combine(await Promise.all(loads));
  };
  try {
    const warmUp = await send(conditions.warmUp);
    const start = await totalStats(pids);
    const load = await withSampling(pids, conditions.sample, () => send(conditions.seconds));
    const end = await totalStats(pids);
    const usage = start && end && { ...end, cpuSeconds: end.cpuSeconds - start.cpuSeconds };
    return { warmUp, load, usage };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Adds the replies and errors of several loads, and takes the slowest of their times. */
function combine(results: readonly LoadResult[]): LoadResult {
  const sum = (of: (result: LoadResult) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  return {
    replies: sum(({ replies }) => replies),
    errors: sum(({ errors }) => errors),
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
    p50: Math.max(...results.map(({ p50 }) => p50)),
    p99: Math.max(...results.map(({ p99 }) => p99)),
  };
}

async function withSampling<T>(
  pids: readonly number[],
  sample: Conditions['sample'],
  run: () => Promise<T>,
): Promise<T> {
  if (!sample) return run();
  const timer = setInterval(async () => {
    const stats = await totalStats(pids);
    if (stats) sample.take(stats);
  }, sample.every * 1000);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}
