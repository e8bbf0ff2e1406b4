import { distributePlants, openPlantStore } from '@plant-store/core';
import {
  createCitusDatabase,
  createDatabase,
  installedCitus,
  startCitus,
  startPostgres,
} from '@plant-store/test-setup';
import postgres from 'postgres';

/** One or more Postgres servers that hold one store. */
export interface BenchCluster {
  /** The URLs of the store's database on each node, the coordinator's first. */
  readonly urls: readonly string[];
  /** The process id of each node's server. */
  readonly pids: readonly number[];
  empty(): Promise<void>;
  countPlants(): Promise<number>;
  stop(): Promise<void>;
}

interface ClusterOptions {
  workers: number;
  shards: number;
  /** Whether the coordinator stores plants, too. */
  coordinatorHasShards?: boolean;
  /** Milliseconds by which everything between two nodes is delayed, each way. */
  delay?: number;
}

/** Starts a Citus cluster, and distributes the store over its workers. */
export async function startBenchCluster(options: ClusterOptions): Promise<BenchCluster> {
  const { workers, shards, coordinatorHasShards = false, delay = 0 } = options;
  const cluster = await startCitus({ workers, coordinatorHasShards, hasProxies: delay > 0 });
  const { url, workerUrls, adminUrl } = await createCitusDatabase(cluster.addresses);
  await (await openPlantStore({ databaseUrl: url })).close();
  await distributePlants({ databaseUrl: url, shards, confirm: async () => true });
  const nodes = [cluster.coordinator, ...cluster.workers];
  for (const { proxy } of nodes) if (proxy) proxy.delay = delay;
  return {
    urls: [url, ...workerUrls],
    pids: nodes.map(({ server }) => server.process.pid ?? Number.NaN),
    ...emptyAndCount(adminUrl),
    stop: () => cluster.stop(),
  };
}

/** Starts the same Postgres without Citus. */
export async function startPlainPostgres(): Promise<BenchCluster> {
  const binaries = installedCitus();
  const server = await startPostgres({}, { ...(binaries && { binaries }) });
  const url = await createDatabase(server.url);
  await (await openPlantStore({ databaseUrl: url })).close();
  return {
    urls: [url],
    pids: [server.process.pid ?? Number.NaN],
    ...emptyAndCount(url),
    stop: () => server.stop(),
  };
}

function emptyAndCount(url: string): Pick<BenchCluster, 'empty' | 'countPlants'> {
  const run = async (...statements: string[]) => {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    let rows: postgres.Row[] = [];
    for (const statement of statements) rows = await sql.unsafe(statement);
    await sql.end();
    return rows;
  };
  return {
    empty: async () => void (await run('truncate plants', 'checkpoint')),
    async countPlants() {
      const [row] = await run('select count(*)::int from plants');
      return row?.['count'];
    },
  };
}
