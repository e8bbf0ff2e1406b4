import { distributePlants } from '@plant-store/citus/operator';
import { createCitusDatabase, installedCitus, startCitus } from '@plant-store/test-setup';
import { type BenchDatabase, openDatabase } from './bench-database.ts';
import { createTables, startBenchPostgres } from './bench-postgres.ts';

interface ClusterOptions {
  readonly workers: number;
  readonly shards: number;
  /** Whether the coordinator also stores plants. */
  readonly coordinatorHasShards?: boolean;
  /** The delay between two nodes, in milliseconds for each direction. */
  readonly delay?: number;
}

/** Starts a Citus cluster for one measurement. The coordinator is the first node. */
export async function openCluster(options: ClusterOptions): Promise<BenchDatabase> {
  const { workers, shards, coordinatorHasShards = false, delay = 0 } = options;
  const cluster = await startCitus({ workers, coordinatorHasShards, hasProxies: delay > 0 });
  const { url, workerUrls, adminUrl } = await createCitusDatabase(cluster.addresses);
  await createTables(url);
  await distributePlants({ databaseUrl: url, shards, confirm: async () => true });
  const nodes = [cluster.coordinator, ...cluster.workers];
  for (const { proxy } of nodes) if (proxy) proxy.delay = delay;
  const pids = nodes.map(({ server }) => server.process.pid ?? Number.NaN);
  const database = openDatabase([url, ...workerUrls], pids, adminUrl);
  return { ...database, remove: () => database.sql.end().then(cluster.stop) };
}

/** Starts the Postgres of the cluster's nodes, but without Citus. */
export async function openPlainPostgres(): Promise<BenchDatabase> {
  const binaries = installedCitus();
  const server = await startBenchPostgres({}, { ...(binaries && { binaries }) });
  return { ...(await server.createDatabase()), remove: server.stop };
}
