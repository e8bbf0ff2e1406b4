import { createCitusDatabase, startCitus } from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPlantStore } from '../../../core/src/plant-store.ts';
import { citus } from '../../src/index.ts';
import { distributePlants, inspectCluster } from '../../src/operator.ts';
import {
  createDistributedDatabase,
  createEmptyDatabase,
} from '../../test/fixtures/distributed-database.ts';

describe('the state of a Citus cluster', () => {
  it('lists the missing steps when nobody has chosen a number of shards', async () => {
    const { url } = await createEmptyDatabase();
    await (await openPlantStore({ databaseUrl: url, cluster: citus })).close();
    const { missing = [] } = (await inspectCluster(url)) ?? {};
    expect(missing[0]).toBe("distribute plants by id, and remove the coordinator's own copy");
    expect(missing).toHaveLength(6);
  });

  it('estimates the number of plants on each node, even when the URL names a worker', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const sql = postgres(url, { max: 1 });
    await sql`insert into plants (id, name) select i, 'plant ' || i from generate_series(1, 1000) i`;
    await sql.end();
    for (const node of [url, ...workerUrls]) {
      // Postgres updates the statistics in the background.
      await vi.waitFor(async () => {
        const { nodes = [] } = (await inspectCluster(node)) ?? {};
        const plants = nodes.map((each) => each.plants ?? 0);
        expect(plants.every((count) => count > 0)).toBe(true);
        expect(plants.reduce((sum, count) => sum + count, 0)).toBe(1_000);
      });
    }
  });

  it('estimates the number of plants even after a crash has reset the statistics', async () => {
    const { url, workerUrls, adminUrl } = await createDistributedDatabase();
    const sql = postgres(url, { max: 1 });
    await sql`insert into plants (id, name) select i, 'plant ' || i from generate_series(1, 1000) i`;
    await sql`analyze plants`;
    await sql.end();
    for (const worker of workerUrls) {
      const admin = Object.assign(new URL(worker), { username: new URL(adminUrl).username });
      const node = postgres(admin.href, { max: 1 });
      await node`select pg_stat_reset()`;
      await node.end();
    }
    const { nodes = [] } = (await inspectCluster(url)) ?? {};
    expect(nodes.reduce((sum, { plants = 0 }) => sum + plants, 0)).toBe(1_000);
  });

  it('lists each node that is down and stores no plants', async () => {
    const { adminUrl, workerUrls } = await createDistributedDatabase();
    const [worker = ''] = workerUrls;
    expect(await inspectCluster(worker)).toMatchObject({ downWithoutPlants: [] });
    const onWorker = Object.assign(new URL(worker), { username: new URL(adminUrl).username });
    const sql = postgres(onWorker.href, { max: 1 });
    // No server listens on the port 1.
    await sql`update pg_dist_node set nodeport = 1 where groupid = 0`;
    await sql.end();
    expect(await inspectCluster(worker)).toMatchObject({ downWithoutPlants: ['127.0.0.1:1'] });
  });

  it('returns no number of plants for a node that accepts connections but never responds', async () => {
    const cluster = await startCitus({ workers: 2, settings: { fsync: 'off' } });
    onTestFinished(() => cluster.stop());
    const { url } = await createCitusDatabase(cluster.addresses);
    await (await openPlantStore({ databaseUrl: url, cluster: citus })).close();
    await distributePlants({ databaseUrl: url, shards: 4, confirm: async () => true });
    const unfreeze = await cluster.workers[0]?.server.freeze();
    const { nodes = [] } = (await inspectCluster(url)) ?? {};
    unfreeze?.();
    expect(nodes.map(({ plants }) => plants).sort()).toEqual([0, undefined]);
  });
});
