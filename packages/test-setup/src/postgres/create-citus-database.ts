import { randomUUID } from 'node:crypto';
import { runSql } from './run-sql.ts';
import type { CitusAddresses } from './start-citus.ts';

export type CitusDatabase = Awaited<ReturnType<typeof createCitusDatabase>>;

/**
 * Creates an empty database on every node. Makes one cluster of the coordinator and the first workers. Returns
 * the owner's URL on the coordinator and on each worker, and a superuser's URL on the coordinator.
 */
export async function createCitusDatabase(
  { nodes, coordinatorHasShards }: CitusAddresses,
  workerCount = nodes.length - 1,
) {
  const pathname = `test_${randomUUID().replaceAll('-', '')}`;
  const onServer = (url: string, username: string) =>
    Object.assign(new URL(url), { pathname, username }).href;
  await Promise.all(
    nodes.map(async ({ url }) => {
      await runSql(url, `create database ${pathname} owner gardener`);
      await runSql(onServer(url, 'postgres'), 'create extension citus');
    }),
  );

  const [coordinator, ...workers] = nodes.map(
    ({ proxyUrl }) => `'127.0.0.1', ${new URL(proxyUrl).port}`,
  );
  const [url = '', ...workerUrls] = nodes.map((node) => onServer(node.url, 'gardener'));
  const adminUrl = onServer(url, 'postgres');
  await runSql(
    adminUrl,
    `select citus_set_coordinator_host(${coordinator})`,
    ...workers.slice(0, workerCount).map((worker) => `select citus_add_node(${worker})`),
    `select citus_set_node_property(${coordinator}, 'shouldhaveshards', ${coordinatorHasShards})`,
  );
  return { url, workerUrls, adminUrl };
}
