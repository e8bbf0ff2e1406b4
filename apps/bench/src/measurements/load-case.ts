import type { Contender } from '../contenders/contenders.ts';
import type { BenchDatabase } from '../database/bench-database.ts';
import { allocateIds, type IdOrder } from '../load/ids.ts';
import { accessToken, type LoadResult } from '../load/load.ts';
import { pgbenchLoad } from '../load/pgbench-load.ts';
import { rest } from '../load/request-format.ts';
import { type Subscribers, subscribe } from '../load/subscribers.ts';
import { startServer } from '../processes/start-server.ts';
import { type Usage, usageOf } from '../processes/usage.ts';
import type { Bench } from './bench.ts';
import type { Case, Running } from './run-plan.ts';
import { sum } from './statistics.ts';

/** A contender, and the load under which it is measured. */
export interface LoadConditions extends Contender {
  readonly connections: number;
  /** Opens the database. Default: the database of the bench, without plants. */
  readonly open?: () => Promise<BenchDatabase>;
  /** Starts a server for each number, on the database node with this number. All servers share the load. */
  readonly instancesOn?: readonly number[];
  /** Default: `int64`, or `small` for a server that cannot take every int64. */
  readonly order?: IdOrder;
  /** The number of extra connections that create plants. Only the errors of these connections count. */
  readonly creating?: number;
  /** The number of subscribers to the feed of the first instance. */
  readonly subscribers?: number;
}

export interface Durations {
  /** The duration of the load before the measurement, in seconds. V8 compiles the hot code in this time. */
  readonly warmUp: number;
  readonly seconds: number;
}

/** The results of a load, which `figuresOf` computes. */
export type LoadFigures = ReturnType<typeof figuresOf> & { readonly feedP99: number };

/** Measures a contender under load. */
export function loadCase(
  bench: Bench,
  durations: Durations,
  conditions: LoadConditions,
): Case<LoadFigures> {
  const { name, title, server } = conditions;
  const { order = server?.takesInt64 === false ? 'small' : 'int64' } = conditions;
  return {
    name,
    title: order === 'small' ? `${title}, small ids` : title,
    start: () => startLoad(bench, durations, { ...conditions, order }),
  };
}

type OrderedLoad = LoadConditions & { readonly order: IdOrder };

async function startLoad(
  bench: Bench,
  durations: Durations,
  conditions: OrderedLoad,
): Promise<Running<LoadFigures>> {
  const { server, instancesOn = [0], open = bench.database.emptied } = conditions;
  const database = await open();
  const rowsBefore = await database.countPlants();
  const settings = instancesOn.map((node) => ({ ...database.settings[node] }));
  const env = { ...server?.env, PLANT_STORE_TOKEN: accessToken };
  const servers = await Promise.all(
    settings.flatMap((each) => (server ? startServer(server.program, { ...env, ...each }) : [])),
  );
  const urls = server ? servers.map(({ url }) => url) : [settings[0]?.['DATABASE_URL'] ?? ''];

  const loads: LoadResult[] = [];
  const send = async (seconds: number) => {
    const result = await sendTo(urls, bench, { ...conditions, seconds });
    loads.push(result);
    return result;
  };
  const pids = [...servers.map(({ pid }) => pid), ...database.pids];
  const usage = () => Promise.all(pids.map(usageOf));
  await send(durations.warmUp);
  const feed = await subscribe(urls[0] ?? '', conditions.subscribers ?? 0);
  return {
    async measure() {
      const before = await usage();
      const load = await send(durations.seconds);
      const after = await usage();
      const figures = figuresOf(load, server?.format.plants ?? 1, servers.length, before, after);
      return { ...figures, feedP99: conditions.subscribers ? await feedP99(feed) : Number.NaN };
    },
    async stop() {
      await feed.close();
      await Promise.all(servers.map((each) => each.stop()));
      const rows = (await database.countPlants()) - rowsBefore - feed.created;
      await database.remove?.();
      return faultsOf(loads, rows, conditions);
    },
  };
}

/** Measures the 99th percentile of the time from a commit until a subscriber gets the change. */
async function feedP99(feed: Subscribers): Promise<number> {
  const all: number[] = [];
  await feed.latencies(); // This plant may wait for plants of the load, so it does not count.
  for (let i = 0; i < 20; i++) all.push(...(await feed.latencies()));
  return all.toSorted((a, b) => a - b)[Math.floor(all.length * 0.99)] ?? Number.NaN;
}

/** Sends load to all instances at the same time. Without a server, pgbench sends the load. */
async function sendTo(
  urls: readonly string[],
  { generator }: Bench,
  { server, seconds, creating = 0, order, ...load }: OrderedLoad & { seconds: number },
): Promise<LoadResult> {
  const { run } = server ? generator : pgbenchLoad;
  const connections = Math.round(load.connections / urls.length);
  const own = { format: server?.format ?? rest, order, connections };
  const creates = { format: rest, order: 'int64' as const, connections: creating };
  const sendAll = (each: typeof own) =>
    Promise.all(urls.map((url) => run({ ...each, url, seconds, first: allocateIds() })));
  const [results, others] = await Promise.all([sendAll(own), creating > 0 ? sendAll(creates) : []]);
  const slowest = (time: 'seconds' | 'p50' | 'p99') =>
    Math.max(...results.map((result) => result[time]));
  return {
    responses: sum(results.map(({ responses }) => responses)),
    errors: sum([...results, ...others].map(({ errors }) => errors)),
    seconds: slowest('seconds'),
    p50: slowest('p50'),
    p99: slowest('p99'),
  };
}

/** @param before the usage before the load: first of each server, and then of each database node */
function figuresOf(
  { responses, seconds, p50, p99 }: LoadResult,
  plants: number,
  servers: number,
  before: readonly Usage[],
  after: readonly Usage[],
) {
  // Microseconds of CPU time for a response.
  const costs = after.map(({ cpu }, i) => ((cpu - (before[i]?.cpu ?? 0)) * 1e6) / responses);
  const nodes = costs.slice(servers);
  const ofServers = after.slice(0, servers);
  return {
    requestsPerSecond: responses / seconds,
    plantsPerSecond: (responses * plants) / seconds,
    p50,
    p99,
    serverCpu: sum(costs.slice(0, servers)),
    databaseCpu: sum(nodes),
    totalCpu: sum(costs),
    coordinatorCpu: nodes[0] ?? 0,
    /** The CPU time on the busiest node. */
    busiestCpu: Math.max(0, ...nodes),
    processes: sum(ofServers.map(({ processes }) => processes)),
    megabytes: sum(ofServers.map(({ memory }) => memory)) / 2 ** 20,
  };
}

/** Accepts a stored plant without a response, because a load ends before its last responses arrive. */
export function faultsOf(
  loads: readonly LoadResult[],
  rows: number,
  { server, connections }: Pick<LoadConditions, 'server' | 'connections'>,
): string[] {
  const plants = server?.format.plants ?? 1;
  const errors = sum(loads.map((load) => load.errors));
  const lost = plants * sum(loads.map(({ responses }) => responses)) - rows;
  const extra = -lost - plants * connections * loads.length;
  const storesPlants = server?.storesPlants ?? true;
  return [
    ...(errors > 0 ? [`${errors} errors`] : []),
    ...(storesPlants && lost > 0 ? [`${lost} acknowledged plants are not in the table`] : []),
    ...(storesPlants && extra > 0 ? [`${extra} plants in the table that nobody sent`] : []),
  ];
}
