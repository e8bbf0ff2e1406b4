import { type FaultProxy, startFaultProxy } from '../network/fault-proxy.ts';
import { installedCitus } from './installed-citus.ts';
import { runSql } from './run-sql.ts';
import { startPostgres, type TestPostgres } from './start-postgres.ts';

/** A Citus cluster for tests: a coordinator and its workers. Each node has its own Postgres. */
export type TestCitus = Awaited<ReturnType<typeof startCitus>>;

/** A node of the cluster. The other nodes connect to `proxy`, or to `server` when there is no proxy. */
interface CitusNode {
  readonly server: TestPostgres;
  readonly proxy: FaultProxy | undefined;
}

/** The parts of a cluster that another process needs. */
export interface CitusAddresses {
  /** The first node is the coordinator. */
  readonly nodes: readonly { readonly url: string; readonly proxyUrl: string }[];
  /** Whether the coordinator also stores plants. */
  readonly coordinatorHasShards: boolean;
}

interface CitusOptions {
  workers?: number;
  coordinatorHasShards?: boolean;
  /** Whether the nodes reach each other through a proxy. Default: true. */
  hasProxies?: boolean;
  settings?: Record<string, string>;
  /** Environment variables of the last worker, such as `env` of `makeSlowFlush`. */
  lastWorkerEnv?: Record<string, string>;
}

const howToInstall =
  'no Postgres of this machine has the extension Citus: install a package of Citus, as CONTRIBUTING.md says, ' +
  'and run this again';

/** The owner of the databases. This role is not a superuser. Citus needs the role on every node. */
const owner = 'gardener';

/** @throws Error when no Postgres of this machine has the extension Citus */
export async function startCitus(options: CitusOptions = {}) {
  const { workers = 2, coordinatorHasShards = false, hasProxies = true, settings = {} } = options;
  const { lastWorkerEnv = {} } = options;
  const binaries = installedCitus();
  if (!binaries) throw new Error(howToInstall);
  const nodes = await Promise.all(
    Array.from({ length: workers + 1 }, async (_, node) => {
      const env = node === workers ? lastWorkerEnv : {};
      const server = await startPostgres({ ...nodeSettings, ...settings }, { binaries, env });
      await runSql(server.url, `create role ${owner} login`);
      return { server, proxy: hasProxies ? await startFaultProxy(server.url) : undefined };
    }),
  );
  // The first element of `nodes` is the coordinator.
  const [coordinator, ...others] = nodes as [CitusNode, ...CitusNode[]];

  return {
    coordinator,
    workers: others,
    addresses: {
      nodes: nodes.map(({ server, proxy }) => ({
        url: server.url,
        proxyUrl: (proxy ?? server).url,
      })),
      coordinatorHasShards,
    } satisfies CitusAddresses,
    /** Stops all nodes and removes their data. */
    async stop() {
      for (const { proxy } of nodes) proxy?.close();
      await Promise.all(nodes.map(({ server }) => server.stop()));
    },
  };
}

const nodeSettings = {
  shared_preload_libraries: 'citus',
  // Citus uses logical replication to move a shard without blocking writes.
  wal_level: 'logical',
  max_prepared_transactions: '200',
  max_connections: '200',
  // Citus has a worker process for each database.
  max_worker_processes: '100',
  'citus.node_conninfo': 'sslmode=disable',
  // The tests themselves create the role and the databases on each node.
  'citus.enable_create_role_propagation': 'off',
  'citus.enable_create_database_propagation': 'off',
};
