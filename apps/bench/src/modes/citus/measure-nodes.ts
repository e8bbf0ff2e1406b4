import { setTimeout } from 'node:timers/promises';
import { accessToken } from '../../contenders/access-token.ts';
import { oursRest } from '../../contenders/contenders.ts';
import type { BenchCluster } from '../../database/bench-cluster.ts';
import type { Bench } from '../../measurements/bench.ts';
import { treeCpuSeconds } from '../../processes/process-stats.ts';
import { startServer } from '../../processes/start-server.ts';

/** What a load of creates cost the nodes of a cluster. */
export interface NodeCosts {
  readonly createsPerSecond: number;
  /** Milliseconds; of the slowest instance. */
  readonly p50: number;
  readonly errors: number;
  /** Microseconds of CPU time of each node's Postgres for a stored plant, the coordinator first. */
  readonly cpu: readonly number[];
  /** Acknowledged plants that are not stored. */
  readonly missing: number;
}

export interface NodeLoad {
  /** The nodes that the instances of the store use, by their place in the cluster. */
  readonly instancesOn: readonly number[];
  /** Clients in all. */
  readonly connections: number;
  readonly warmUp: number;
  readonly seconds: number;
}

/** Starts instances of the store on some nodes, and creates plants through all of them. */
export async function measureNodes(
  { generator, ids }: Pick<Bench, 'generator' | 'ids'>,
  cluster: BenchCluster,
  { instancesOn, connections, warmUp, seconds }: NodeLoad,
): Promise<NodeCosts> {
  await cluster.empty();
  const servers = await Promise.all(
    instancesOn.map((node) =>
      startServer(oursRest.server.program, {
        DATABASE_URL: cluster.urls[node] ?? '',
        PLANT_STORE_TOKEN: accessToken,
      }),
    ),
  );
  const send = (duration: number) =>
    Promise.all(
      servers.map(({ url }) =>
        generator.run({
          url,
          method: 'POST',
          path: '/plants',
          accessToken,
          bodyParts: ['{"id":', ',"name":"Monstera deliciosa","tag":"Araceae"}'],
          ids: ids.allocate('sequential'),
          connections: Math.round(connections / servers.length),
          seconds: duration,
        }),
      ),
    );
  const usage = () =>
    Promise.all(cluster.pids.map(async (pid) => (await treeCpuSeconds(pid)) ?? 0));
  try {
    const first = await send(warmUp);
    await setTimeout(500); // The statements of the warm-up end.
    const rowsBefore = await cluster.countPlants();
    const before = await usage();
    const results = await send(seconds);
    await setTimeout(500);
    const after = await usage();
    const rows = await cluster.countPlants();
    const replies = results.reduce((sum, result) => sum + result.replies, 0);
    const acknowledged = replies + first.reduce((sum, result) => sum + result.replies, 0);
    return {
      createsPerSecond: results.reduce((sum, result) => sum + result.replies / result.seconds, 0),
      p50: Math.max(...results.map(({ p50 }) => p50)),
      errors: results.reduce((sum, { errors }) => sum + errors, 0),
      cpu: after.map((end, i) => ((end - (before[i] ?? 0)) * 1e6) / (rows - rowsBefore)),
      missing: Math.max(0, acknowledged - rows),
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
