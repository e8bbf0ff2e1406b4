import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type FaultProxy, startFaultProxy } from '../network/fault-proxy.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { runSql, startPostgres, type TestPostgres } from './start-postgres.ts';

/** A node of a Citus cluster. The other nodes reach the node's server through the proxy. */
export interface CitusNode {
  readonly server: TestPostgres;
  readonly proxy: FaultProxy;
}

export type TestCitus = Awaited<ReturnType<typeof startCitus>>;

/** The addresses of the nodes and of their proxies. The first node is the coordinator. */
export type CitusAddresses = readonly { readonly url: string; readonly proxyUrl: string }[];

/** The owner of the databases. This role is not a superuser, and exists on each node. */
const owner = 'gardener';

/**
 * Starts a coordinator and workers, each with its own Postgres.
 *
 * @throws Error when no Postgres of this machine has the extension Citus
 */
export async function startCitus({
  workers = 2,
  settings = {},
}: {
  workers?: number;
  settings?: Record<string, string>;
} = {}) {
  const binaries = installedCitus();
  const nodes = await Promise.all(
    Array.from({ length: workers + 1 }, async (): Promise<CitusNode> => {
      const server = await startPostgres({ ...nodeSettings, ...settings }, { binaries });
      await runSql(server.url, `create role ${owner} login`, `grant pg_read_all_stats to ${owner}`);
      return { server, proxy: await startFaultProxy(server.url) };
    }),
  );
  const [coordinator, ...others] = nodes;
  if (!coordinator) throw new Error('a cluster has a coordinator');
  return {
    coordinator,
    workers: others,
    addresses: nodes.map(({ server, proxy }) => ({ url: server.url, proxyUrl: proxy.url })),
    /** Stops all nodes and removes their data. */
    async stop() {
      for (const { proxy } of nodes) proxy.close();
      await Promise.all(nodes.map(({ server }) => server.stop()));
    },
  };
}

/** Creates an empty database on each node. Returns the owner's URLs, and a superuser's URL. */
export async function createCitusDatabase(nodes: CitusAddresses) {
  const pathname = `test_${randomUUID().replaceAll('-', '')}`;
  const as = (url: string, username: string) =>
    Object.assign(new URL(url), { pathname, username }).href;
  await Promise.all(
    nodes.map(async ({ url }) => {
      await runSql(url, `create database ${pathname} owner ${owner}`);
      await runSql(as(url, 'postgres'), 'create extension citus');
    }),
  );
  const [coordinator, ...workers] = nodes.map(
    ({ proxyUrl }) => `'127.0.0.1', ${new URL(proxyUrl).port}`,
  );
  const [url = '', ...workerUrls] = nodes.map((node) => as(node.url, owner));
  const adminUrl = as(url, 'postgres');
  await runSql(
    adminUrl,
    `select citus_set_coordinator_host(${coordinator})`,
    ...workers.map((worker) => `select citus_add_node(${worker})`),
    `grant execute on function recover_prepared_transactions() to ${owner}`,
  );
  return { url, workerUrls, adminUrl };
}

const nodeSettings = {
  shared_preload_libraries: 'citus',
  max_connections: '200',
  // Citus runs a worker process for each database.
  max_worker_processes: '100',
  autovacuum_naptime: '1d', // The transactions of autovacuum would delay the changes of the feed.
  'citus.node_conninfo': 'sslmode=disable',
  // The tests themselves create the role and the databases on each node.
  'citus.enable_create_role_propagation': 'off',
  'citus.enable_create_database_propagation': 'off',
};

/** Debian installs each version of Postgres in its own directory, which is not in the PATH. */
const debian = '/usr/lib/postgresql/*/bin/pg_config';

/** Returns the programs of an installed Postgres that has the extension Citus. */
function installedCitus(): PostgresBinaries {
  for (const pgConfig of ['pg_config', ...globSync(debian)]) {
    const [programs = '', libraries = ''] = directoriesOf(pgConfig);
    if (!existsSync(join(libraries, 'citus.so'))) continue;
    return { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') };
  }
  throw new Error(
    'no Postgres of this machine has the extension Citus: install a package of Citus 13 for Postgres 15 to 17 ' +
      '(https://docs.citusdata.com/en/stable/installation/multi_node.html), and run this again',
  );
}

function directoriesOf(pgConfig: string): string[] {
  try {
    return execFileSync(pgConfig, ['--bindir', '--pkglibdir'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).split('\n');
  } catch {
    return []; // The program is not installed.
  }
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The cluster that this file has started as a global setup, or undefined in other test runs. */
    citus: CitusAddresses | undefined;
  }
}

/** Starts one Citus cluster for a test run. Tests get the cluster's addresses by `inject('citus')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests do not crash the machine, so they need no fsync, which is slow.
  const cluster = await startCitus({ settings: { fsync: 'off' } });
  project.provide('citus', cluster.addresses);
  return () => cluster.stop();
}
