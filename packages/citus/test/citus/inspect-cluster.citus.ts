import { describe, expect, it, vi } from 'vitest';
import { inspectCluster } from '../../src/operator.ts';
import {
  connect,
  createDistributedDatabase,
  createEmptyDatabase,
  openStore,
  startOwnCluster,
} from '../fixtures/distributed-database.ts';

describe('the state of a Citus cluster', () => {
  it('lists the missing steps when nobody has chosen a number of shards', async () => {
    const { url } = await createEmptyDatabase();
    await openStore(url, { requireConnection: true });
    const { missing = [] } = (await inspectCluster(url)) ?? {};
    expect(missing[0]).toBe("distribute plants by id, and remove the coordinator's own copy");
    expect(missing).toHaveLength(6);
  });

  it('estimates the number of plants on each node, even when the URL names a worker', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const sql = connect(url);
    await sql`insert into plants (id, name) select i, 'plant ' || i from generate_series(1, 1000) i`;
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
    const sql = connect(url);
    await sql`insert into plants (id, name) select i, 'plant ' || i from generate_series(1, 1000) i`;
    await sql`analyze plants`;
    for (const worker of workerUrls) {
      const admin = Object.assign(new URL(worker), { username: new URL(adminUrl).username });
      await connect(admin.href)`select pg_stat_reset()`;
    }
    const { nodes = [] } = (await inspectCluster(url)) ?? {};
    expect(nodes.reduce((sum, { plants = 0 }) => sum + plants, 0)).toBe(1_000);
  });

  it('lists each node that is down and stores no plants', async () => {
    const { adminUrl, workerUrls } = await createDistributedDatabase();
    const [worker = ''] = workerUrls;
    expect(await inspectCluster(worker)).toMatchObject({ downWithoutPlants: [] });
    const onWorker = Object.assign(new URL(worker), { username: new URL(adminUrl).username });
    // No server listens on the port 1.
    await connect(onWorker.href)`update pg_dist_node set nodeport = 1 where groupid = 0`;
    expect(await inspectCluster(worker)).toMatchObject({ downWithoutPlants: ['127.0.0.1:1'] });
  });

  it('returns no number of plants for a node that accepts connections but never responds', async () => {
    const { url, workers } = await startOwnCluster();
    const unfreeze = await workers[0]?.server.freeze();
    const { nodes = [] } = (await inspectCluster(url)) ?? {};
    unfreeze?.();
    expect(nodes.map(({ plants }) => plants).sort()).toEqual([0, undefined]);
  });
});
