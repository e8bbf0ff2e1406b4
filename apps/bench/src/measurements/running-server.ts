import { accessToken } from '../contenders/access-token.ts';
import type { Server } from '../contenders/contenders.ts';
import type { IdOrder, LoadResult } from '../load/load.ts';
import { bodyParts, defaultPlant, type RequestFormat } from '../load/request-format.ts';
import { totalStats, treeCpuSeconds } from '../processes/process-stats.ts';
import { startServer } from '../processes/start-server.ts';
import type { Bench } from './bench.ts';
import type { Conditions } from './conditions.ts';
import type { LoadOutcome } from './load-outcome.ts';
import { warmUp } from './warm-up.ts';

/** A server, or several instances of it, that can be put under load. */
export interface RunningServer {
  readonly idOrder: IdOrder;
  /** Sends load for at most `seconds`: see `warmUp`. */
  warmUp(seconds: number): Promise<LoadResult[]>;
  load(seconds: number): Promise<Omit<LoadOutcome, 'warmUps' | 'idOrder'>>;
  stop(): Promise<void>;
}

/** A Postgres, or the directory of an embedded database. */
export type DatabaseSettings = { DATABASE_URL: string } | { PLANT_STORE_DATA_DIR: string };

/** Starts a server on a database. */
export async function startRunningServer(
  { generator, ids, postgres }: Bench,
  database: DatabaseSettings,
  { program, env, format, takesInt64 }: Server,
  conditions: Omit<Conditions, 'warmUp' | 'seconds'>,
): Promise<RunningServer> {
  const { connections, plant = defaultPlant, instances = 1, background } = conditions;
  const { order: idOrder = takesInt64 ? ids.defaultOrder : 'sequential' } = conditions;
  const settings = { ...env, ...database, PLANT_STORE_TOKEN: accessToken };
  const servers = await Promise.all(
    Array.from({ length: instances }, () => startServer(program, settings)),
  );
  const pids = servers.map(({ pid }) => pid);
  const sendTo = (
    { url }: { url: string },
    format: RequestFormat,
    load: { order: IdOrder; connections: number; seconds: number },
  ) =>
    generator.run({
      url,
      method: format.method,
      path: format.path,
      accessToken,
      bodyParts: bodyParts(format, plant, load.order),
      ids: ids.allocate(load.order),
      connections: load.connections / instances,
      seconds: load.seconds,
    });
  const send = async (seconds: number) => {
    const load = { order: idOrder, connections, seconds };
    const loads = servers.map((server) => sendTo(server, format, load));
    const others = servers.flatMap((server) =>
      background
        ? [sendTo(server, background.format, { ...background, order: ids.defaultOrder, seconds })]
        : [],
    );
    const result = combine(await Promise.all(loads));
    const { errors } = combine(await Promise.all(others));
    return { ...result, errors: result.errors + errors };
  };
  const usageSoFar = async () => ({
    server: await totalStats(pids),
    database: postgres.pid === undefined ? undefined : await treeCpuSeconds(postgres.pid),
  });
  return {
    idOrder,
    warmUp: (seconds) =>
      warmUp(seconds, { send, cpuSeconds: async () => (await totalStats(pids))?.cpuSeconds }),
    async load(seconds) {
      const start = await usageSoFar();
      const load = await withSampling(pids, conditions.sample, () => send(seconds));
      const end = await usageSoFar();
      const usage = start.server &&
        end.server && {
          ...end.server,
          cpuSeconds: end.server.cpuSeconds - start.server.cpuSeconds,
        };
      const databaseCpuSeconds =
        start.database === undefined || end.database === undefined
          ? undefined
          : end.database - start.database;
      return { load, usage, databaseCpuSeconds };
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
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
